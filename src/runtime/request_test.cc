#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "runtime/session.h"
#include "runtime/testing/fake_session_test.h"

namespace npukit::runtime {
namespace {

using tensor::DType;
using testing::Affine;
using testing::Bind;
using testing::FakePackage;
using testing::MixedChain;
using testing::Opener;
using testing::OpenSession;
using testing::Ramp;

TEST(Request, RefusesWrongNamesTypesShapesAndSizes) {
  FakePackage package;
  package.AddChain("NPU", 16, {{"fake_npu", {}, {}}});
  package.AddChain("NPU", 32, {{"fake_npu", {}, {}}});
  Opener opener;
  auto session = OpenSession(package, opener);
  ASSERT_NE(session, nullptr);
  auto r = *session->NewRequest();
  const std::vector<float> x = Ramp(32);
  EXPECT_EQ(r->Submit().message(), "input 'x' is not bound");
  EXPECT_EQ(r->Wait().code(), Code::kInvalidArgument);
  EXPECT_EQ(r->BindInput("z", DType::kF32, {16}, x.data(), 64).message(),
            "no input 'z'; the model has: x");
  EXPECT_EQ(r->BindInput("x", DType::kI64, {16}, x.data(), 128).message(),
            "input 'x': expected fp32[16] or fp32[32], found int64[16]");
  EXPECT_EQ(r->BindInput("x", DType::kF32, {17}, x.data(), 68).message(),
            "input 'x': expected fp32[16] or fp32[32], found fp32[17]");
  EXPECT_EQ(r->BindInput("x", DType::kF32, {16}, x.data(), 60).message(),
            "input 'x': expected 64 bytes for fp32[16], found 60");
  EXPECT_EQ(r->BindInput("x", DType::kF32, {16}, nullptr, 64).code(), Code::kInvalidArgument);
  EXPECT_EQ(r->BindOutput("z", nullptr, 0).message(), "no output 'z'; the model has: y");
  std::vector<float> y(15);
  ASSERT_OK(r->BindInput("x", DType::kF32, {16}, x.data(), 64));
  ASSERT_OK(r->BindOutput("y", y.data(), 60));
  EXPECT_EQ(r->Submit().message(), "output 'y': expected at least 64 bytes for fp32[16], found 60");
  EXPECT_EQ(r->Output("y").status().code(), Code::kInvalidArgument);
}

TEST(Request, RefusesAnOutputOverAnInput) {
  FakePackage package;
  package.AddChain("NPU", 16, {{"fake_npu", {}, {}}});
  Opener opener;
  auto session = OpenSession(package, opener);
  ASSERT_NE(session, nullptr);
  auto r = *session->NewRequest();
  std::vector<float> x = Ramp(32);
  ASSERT_OK(r->BindInput("x", DType::kF32, {16}, x.data(), 64));
  ASSERT_OK(r->BindOutput("y", x.data() + 15, 64));
  EXPECT_NE(r->Submit().message().find("bound over input 'x'"), std::string::npos);
  ASSERT_OK(r->BindOutput("y", x.data() + 16, 64));
  ASSERT_OK(r->Run());
}

TEST(Request, SaysWhatEveryPartTookWhileItIsProfiledAndNotElse) {
  FakePackage package;
  package.AddChain("NPU,CPU", 16, MixedChain());
  Opener opener;
  auto session = OpenSession(package, opener);
  ASSERT_NE(session, nullptr);
  auto r = *session->NewRequest();
  const std::vector<float> x = Ramp(16);
  ASSERT_OK(Bind(*r, x));
  ASSERT_OK(r->Run());
  for (const StepAccount& s : r->account().steps) EXPECT_TRUE(s.parts.empty());
  r->Profile(true);
  for (int i = 0; i < 2; ++i) {
    ASSERT_OK(r->Run());
    ASSERT_EQ(r->account().steps.size(), 2u);
    for (const StepAccount& s : r->account().steps) {
      ASSERT_EQ(s.parts.size(), 1u) << s.device;  // the fake's one step
      EXPECT_EQ(s.parts[0].info.name, "affine");
      EXPECT_EQ(s.parts[0].info.macs, 16);
    }
    EXPECT_EQ(r->account().steps[0].parts[0].ns, 700);  // as MixedChain says
    EXPECT_EQ(r->account().steps[1].parts[0].ns, 300);
  }
  r->Profile(false);
  ASSERT_OK(r->Run());
  for (const StepAccount& s : r->account().steps) EXPECT_TRUE(s.parts.empty());
}

TEST(Request, ProfilesFromTheNextSubmitOn) {
  FakePackage package;
  package.AddChain("NPU,CPU", 16, MixedChain());
  Opener opener;
  auto session = OpenSession(package, opener);
  ASSERT_NE(session, nullptr);
  auto r = *session->NewRequest();
  const std::vector<float> x = Ramp(16);
  ASSERT_OK(Bind(*r, x));
  opener.last_npu->Hold(true);
  ASSERT_OK(r->Submit());
  r->Profile(true);  // too late for this one
  opener.last_npu->Hold(false);
  ASSERT_OK(r->Wait());
  ASSERT_EQ(r->account().steps.size(), 2u);
  for (const StepAccount& s : r->account().steps) EXPECT_TRUE(s.parts.empty());
  ASSERT_OK(r->Run());
  for (const StepAccount& s : r->account().steps) EXPECT_EQ(s.parts.size(), 1u);
}

TEST(Request, SubmitReturnsAtOnceAndBusyRequestsAreLeftAlone) {
  FakePackage package;
  package.AddChain("NPU,CPU", 16, MixedChain());
  Opener opener;
  auto session = OpenSession(package, opener);
  ASSERT_NE(session, nullptr);
  opener.last_npu->Hold(true);
  auto r = *session->NewRequest();
  const std::vector<float> x = Ramp(16);
  ASSERT_OK(Bind(*r, x));
  ASSERT_OK(r->Submit());  // would hang here if it waited
  EXPECT_EQ(r->Submit().code(), Code::kInvalidArgument);
  EXPECT_EQ(Bind(*r, x).code(), Code::kInvalidArgument);
  EXPECT_EQ(r->Output("y").status().code(), Code::kInvalidArgument);
  EXPECT_EQ(r->Completed().code(), Code::kInvalidArgument);
  opener.last_npu->Hold(false);
  ASSERT_OK(r->Wait());
  ASSERT_OK(r->Wait());  // again: the same answer
}

TEST(Request, CancelEndsTheRunAndTheRequestWorksAgain) {
  FakePackage package;
  package.AddChain("NPU,CPU", 16, MixedChain());
  Opener opener;
  auto session = OpenSession(package, opener);
  ASSERT_NE(session, nullptr);
  auto r = *session->NewRequest();
  const std::vector<float> x = Ramp(16);
  ASSERT_OK(Bind(*r, x));
  opener.last_npu->Hold(true);
  ASSERT_OK(r->Submit());
  std::thread other([&] { r->Cancel(); });
  other.join();
  opener.last_npu->Hold(false);
  EXPECT_EQ(r->Wait().code(), Code::kCancelled);
  EXPECT_EQ(r->Output("y").status().code(), Code::kCancelled);
  ASSERT_OK(r->Run());
  EXPECT_EQ(r->Output("y")->as<float>()[0], 6 * x[0] - 2);
}

TEST(Request, ReleasedWhileRunningEndsTheRunFirst) {
  FakePackage package;
  package.AddChain("NPU,CPU", 16, MixedChain());
  Opener opener;
  auto session = OpenSession(package, opener);
  ASSERT_NE(session, nullptr);
  opener.last_npu->Hold(true);
  auto r = *session->NewRequest();
  auto x = std::make_unique<std::vector<float>>(Ramp(16));
  auto y = std::make_unique<std::vector<float>>(16);
  ASSERT_OK(Bind(*r, *x));
  ASSERT_OK(r->BindOutput("y", y->data(), 64));
  ASSERT_OK(r->Submit());
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    opener.last_npu->Hold(false);
  });
  session.reset();  // the request keeps what it needs
  r.reset();        // waits: after it nobody writes to y (sanitizers would see it)
  y.reset();
  x.reset();
  later.join();
}

TEST(Request, AFailingStepFailsTheRunAndNamesTheStep) {
  FakePackage package;
  auto chain = MixedChain();
  chain[0].blob.fail = 1;
  package.AddChain("NPU,CPU", 16, chain);
  package.AddChain("CPU", 32, {{"fake_cpu", {.fail = 2}, {}}});
  package.AddChain("CPU", 48, {{"fake_cpu", {.scale = 2}, {}}});
  Opener opener;
  auto session = OpenSession(package, opener);
  ASSERT_NE(session, nullptr);
  auto r = *session->NewRequest();
  const std::vector<float> x = Ramp(48);
  ASSERT_OK(r->BindInput("x", DType::kF32, {16}, x.data(), 64));
  const Status failed = r->Run();
  EXPECT_EQ(failed.code(), Code::kDeviceLost);
  EXPECT_EQ(failed.message(), "step 0 (NPU (fake)): fake: the work failed");
  EXPECT_EQ(r->Completed().code(), Code::kDeviceLost);
  ASSERT_OK(r->BindInput("x", DType::kF32, {32}, x.data(), 128));
  EXPECT_EQ(r->Submit().code(), Code::kDeviceLost);  // refused by the device's queue
  EXPECT_EQ(r->Wait().code(), Code::kDeviceLost);
  ASSERT_OK(r->BindInput("x", DType::kF32, {48}, x.data(), 192));
  ASSERT_OK(r->Run());
}

TEST(Request, ARefusedSubmitLeavesTheCallersOutputAlone) {
  FakePackage package;
  auto chain = MixedChain();
  chain[1].blob.fail = 2;  // the first step is already in flight when the second is refused
  package.AddChain("NPU,CPU", 16, chain);
  Opener opener;
  opener.cpu.can_import = false;  // so that the output is staged
  auto session = OpenSession(package, opener);
  ASSERT_NE(session, nullptr);
  auto r = *session->NewRequest();
  const std::vector<float> x = Ramp(16);
  std::vector<float> y(16, -1);
  ASSERT_OK(Bind(*r, x));
  ASSERT_OK(r->BindOutput("y", y.data(), 64));
  EXPECT_EQ(r->Submit().code(), Code::kDeviceLost);
  EXPECT_EQ(y, std::vector<float>(16, -1));
  EXPECT_EQ(r->Completed().code(), Code::kDeviceLost);
}

TEST(Request, CopyAndReleaseStepsRun) {
  FakePackage package;
  format::Program& p =
      package.AddChain("NPU", 16, {{"fake_npu", {.scale = 3, .cost_ns = 700}, {}}});
  // x -> copy -> a -> call -> b -> copy -> y, with a release that has nothing to do.
  const auto type = p.input_types[0];
  p.slots.push_back({.name = "a", .type = type, .kind = format::SlotKind::kFixed, .offset = 0});
  p.slots.push_back({.name = "b", .type = type, .kind = format::SlotKind::kFixed, .offset = 64});
  p.arena_bytes = 128;
  format::Step call = p.blocks[0].steps[0];
  call.inputs = {2};
  call.outputs = {3};
  format::Step in{.kind = format::StepKind::kCopy, .inputs = {0}, .outputs = {2}};
  format::Step out{.kind = format::StepKind::kCopy, .inputs = {3}, .outputs = {1}};
  format::Step release{.kind = format::StepKind::kRelease, .inputs = {2}};
  p.blocks[0].steps = {in, call, release, out};
  Opener opener;
  auto session = OpenSession(package, opener);
  ASSERT_NE(session, nullptr);
  auto r = *session->NewRequest();
  const std::vector<float> x = Ramp(16);
  ASSERT_OK(Bind(*r, x));
  ASSERT_OK(r->Run());
  const auto y = *r->Output("y");
  EXPECT_EQ(std::vector<float>(y.as<float>().begin(), y.as<float>().end()), Affine(x, 3, 0));
  EXPECT_EQ(r->account().copies, 2u);
  EXPECT_EQ(r->account().bytes_copied, 128u);
  EXPECT_EQ(r->account().steps.size(), 3u);
  EXPECT_EQ(r->account().latency_ns, 700);
}

}  // namespace
}  // namespace npukit::runtime
