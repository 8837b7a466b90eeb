#include "runtime/session.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>

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
using testing::OpenStatus;
using testing::Ramp;

TEST(Session, RunsAMixedProgramAndReadsTheOutput) {
  FakePackage package;
  package.AddChain("NPU,CPU", 16, MixedChain());
  Opener opener;
  auto session = OpenSession(package, opener);
  ASSERT_NE(session, nullptr);
  EXPECT_EQ(session->device_description(), "NPU (fake), CPU (fake)");
  EXPECT_EQ(opener.opened, 2);
  auto request = *session->NewRequest();
  const std::vector<float> x = Ramp(16);
  ASSERT_OK(Bind(*request, x));
  ASSERT_OK(request->Run());
  auto y = request->Output("y");
  ASSERT_TRUE(y.ok()) << y.status().message();
  EXPECT_EQ(y->dims(), tensor::Dims{16});
  EXPECT_EQ(std::vector<float>(y->as<float>().begin(), y->as<float>().end()), Affine(x, 6, -2));
}

TEST(Session, WeightsAreUsedFromThePackage) {
  FakePackage package;
  const std::vector<float> w = {10, 20, 30, 40};
  package.AddChain("NPU", 4, {{"fake_npu", {.scale = 2}, w}});
  Opener opener;
  auto session = OpenSession(package, opener);
  ASSERT_NE(session, nullptr);
  EXPECT_EQ(session->weights_bytes(), 16u);
  auto request = *session->NewRequest();
  const std::vector<float> x = {1, 2, 3, 4};
  ASSERT_OK(Bind(*request, x));
  ASSERT_OK(request->Run());
  const auto y = *request->Output("y");
  EXPECT_EQ(std::vector<float>(y.as<float>().begin(), y.as<float>().end()),
            (std::vector<float>{12, 24, 36, 48}));
}

TEST(Session, BoundBuffersAreNotCopied) {
  FakePackage package;
  package.AddChain("NPU,CPU", 16, MixedChain());
  Opener opener;
  auto session = OpenSession(package, opener);
  ASSERT_NE(session, nullptr);
  auto request = *session->NewRequest();
  const std::vector<float> x = Ramp(16);
  std::vector<float> y(16, -1);
  ASSERT_OK(Bind(*request, x));
  ASSERT_OK(request->BindOutput("y", y.data(), y.size() * sizeof(float)));
  ASSERT_OK(request->Run());
  EXPECT_EQ(y, Affine(x, 6, -2));
  EXPECT_EQ(request->Output("y")->data(), y.data());
  EXPECT_EQ(request->account().copies, 0u);
  EXPECT_EQ(request->account().bytes_copied, 0u);
}

TEST(Session, ADeviceThatCannotImportCostsOneCountedCopyEachWay) {
  FakePackage package;
  package.AddChain("NPU,CPU", 16, MixedChain());
  for (const bool npu_cannot : {true, false}) {
    Opener opener;
    (npu_cannot ? opener.npu : opener.cpu).can_import = false;
    auto session = OpenSession(package, opener);
    ASSERT_NE(session, nullptr);
    auto request = *session->NewRequest();
    const std::vector<float> x = Ramp(16);
    std::vector<float> y(16, -1);
    ASSERT_OK(Bind(*request, x));
    ASSERT_OK(request->BindOutput("y", y.data(), y.size() * sizeof(float)));
    for (int run = 0; run < 2; ++run) {
      ASSERT_OK(request->Run());
      EXPECT_EQ(y, Affine(x, 6, -2));
      EXPECT_EQ(request->account().copies, 1u);  // the NPU reads x, the CPU writes y
      EXPECT_EQ(request->account().bytes_copied, 64u);
    }
  }
}

TEST(Session, TwoDevicesThatCannotShareMemoryAreAnError) {
  FakePackage package;
  package.AddChain("NPU,CPU", 16, MixedChain());
  Opener opener;
  opener.npu.can_import = opener.cpu.can_import = false;
  auto session = OpenSession(package, opener);
  ASSERT_NE(session, nullptr);
  auto request = *session->NewRequest();
  const std::vector<float> x = Ramp(16);
  ASSERT_OK(Bind(*request, x));
  EXPECT_EQ(request->Submit().code(), Code::kUnsupported);
}

TEST(Session, AccountsForEachStepOnTheVirtualClock) {
  FakePackage package;
  package.AddChain("NPU,CPU", 16, MixedChain());
  Opener opener;
  auto session = OpenSession(package, opener);
  ASSERT_NE(session, nullptr);
  auto request = *session->NewRequest();
  const std::vector<float> x = Ramp(16);
  ASSERT_OK(Bind(*request, x));
  for (int run = 0; run < 3; ++run) {  // one after the other: each takes as long as the first
    ASSERT_OK(request->Run());
    const Account& a = request->account();
    EXPECT_EQ(a.devices, "NPU,CPU");
    EXPECT_EQ(a.precision, "fp32");
    EXPECT_EQ(a.program, 0u);
    EXPECT_EQ(a.compute_units.total, 4u);
    EXPECT_EQ(a.kind, target::Kind::kModelled);
    EXPECT_EQ(a.latency_ns, 1000);
    EXPECT_GT(a.wall_ns, 0);
    ASSERT_TRUE(a.energy_pj.has_value());
    EXPECT_EQ(*a.energy_pj, 2000);
    ASSERT_EQ(a.steps.size(), 2u);
    EXPECT_EQ(a.steps[0].device_class, "NPU");
    EXPECT_EQ(a.steps[0].device, "NPU (fake)");
    EXPECT_EQ(a.steps[0].start_ns, 0);
    EXPECT_EQ(a.steps[0].end_ns, 700);
    EXPECT_EQ(a.steps[1].start_ns, 700);
    EXPECT_EQ(a.steps[1].end_ns, 1000);
  }
}

TEST(Session, RunsInFlightTogetherShareTheDevicesOnTheVirtualClock) {
  FakePackage package;
  package.AddChain("NPU", 16, {{"fake_npu", {.cost_ns = 700}, {}}});
  Opener opener;
  auto session = OpenSession(package, opener);
  ASSERT_NE(session, nullptr);
  auto a = *session->NewRequest();
  auto b = *session->NewRequest();
  const std::vector<float> x = Ramp(16);
  ASSERT_OK(Bind(*a, x));
  ASSERT_OK(Bind(*b, x));
  ASSERT_OK(a->Submit());
  ASSERT_OK(b->Submit());
  ASSERT_OK(a->Wait());
  ASSERT_OK(b->Wait());
  EXPECT_EQ(a->account().latency_ns, 700);
  EXPECT_EQ(b->account().latency_ns, 1400);  // it arrived with the first and waited for the queue
}

TEST(Session, MeasuresOnTheHost) {
  FakePackage package("host");
  package.AddChain("CPU", 16, {{"fake_cpu", {.scale = 2}, {}}});
  Opener opener;
  auto session = OpenSession(package, opener);
  ASSERT_NE(session, nullptr);
  auto request = *session->NewRequest();
  const std::vector<float> x = Ramp(16);
  ASSERT_OK(Bind(*request, x));
  ASSERT_OK(request->Run());
  const Account& a = request->account();
  EXPECT_EQ(a.kind, target::Kind::kMeasured);
  EXPECT_GT(a.latency_ns, 0);
  EXPECT_LE(a.latency_ns, a.wall_ns);
  EXPECT_FALSE(a.energy_pj.has_value());
}

TEST(Session, InputShapesChooseTheProgram) {
  FakePackage package;
  package.AddChain("NPU", 16, {{"fake_npu", {.scale = 1}, {}}});
  package.AddChain("NPU", 32, {{"fake_npu", {.scale = 2}, {}}});
  package.AddChain("CPU", 16, {{"fake_cpu", {.scale = 5}, {}}});
  Opener opener;
  auto session = OpenSession(package, opener, "AUTO:NPU,CPU");
  ASSERT_NE(session, nullptr);
  EXPECT_EQ(session->programs(),
            (std::vector<std::uint32_t>{0, 1}));  // the third is behind the first
  auto request = *session->NewRequest();
  for (const auto& [n, scale, program] : {std::tuple{16, 1.f, 0u}, {32, 2.f, 1u}, {16, 1.f, 0u}}) {
    const std::vector<float> x = Ramp(static_cast<std::size_t>(n));
    ASSERT_OK(Bind(*request, x));
    ASSERT_OK(request->Run());
    EXPECT_EQ(request->account().program, program);
    const auto y = *request->Output("y");
    EXPECT_EQ(std::vector<float>(y.as<float>().begin(), y.as<float>().end()), Affine(x, scale, 0));
  }
  auto cpu = OpenSession(package, opener, "CPU");
  ASSERT_NE(cpu, nullptr);
  EXPECT_EQ(cpu->programs(), (std::vector<std::uint32_t>{2}));
}

TEST(Session, AutoGoesOnWithoutAnAbsentDeviceAndSaysWhatIsThere) {
  FakePackage package;
  package.AddChain("NPU", 16, {{"fake_npu", {.scale = 1}, {}}});
  package.AddChain("CPU", 16, {{"fake_cpu", {.scale = 5}, {}}});
  Opener opener;
  opener.absent = "fake_npu";
  auto session = OpenSession(package, opener, "AUTO:NPU,CPU");
  ASSERT_NE(session, nullptr);
  EXPECT_EQ(session->device_description(), "CPU (fake)");
  EXPECT_EQ(session->programs(), (std::vector<std::uint32_t>{1}));
  EXPECT_EQ(OpenStatus(package, opener, "NPU").code(), Code::kUnsupported);
  opener.absent = "fake_cpu";
  EXPECT_EQ(OpenStatus(package, opener, "CPU").code(), Code::kUnsupported);
}

TEST(Session, RefusesControlFlowOverFixedSlotsAndStates) {
  Opener opener;
  FakePackage branch;
  format::Program& p = branch.AddChain("NPU", 16, {{"fake_npu", {}, {}}});
  p.blocks = {p.blocks[0], p.blocks[0], p.blocks[0]};
  p.blocks[0].steps[0] = {
      .kind = format::StepKind::kIf, .inputs = {0}, .outputs = {1}, .blocks = {1, 2}};
  const Status no_if = OpenStatus(branch, opener);
  EXPECT_EQ(no_if.code(), Code::kDataCorrupt) << no_if.message();
  EXPECT_NE(no_if.message().find("blocks beside the entry"), std::string::npos) << no_if.message();

  FakePackage loop;
  format::Program& q = loop.AddChain("NPU", 16, {{"fake_npu", {}, {}}});
  q.blocks.push_back(q.blocks[0]);
  q.blocks[0].steps[0] = {
      .kind = format::StepKind::kLoop, .inputs = {0}, .outputs = {1}, .blocks = {1}};
  EXPECT_NE(OpenStatus(loop, opener).message().find("loop"), std::string::npos);

  FakePackage state;
  state.AddChain("NPU", 16, {{"fake_npu", {}, {}}});
  state.head.states = {{"cache", 0, 0}};
  EXPECT_EQ(OpenStatus(state, opener).code(), Code::kUnsupported);
  EXPECT_NE(OpenStatus(state, opener).message().find("'cache'"), std::string::npos);
}

// Some of these the reader refuses, some only the plan can see; none may open.
TEST(Session, RefusesProgramsThatContradictThemselves) {
  const auto refused = [](const char* what, const std::function<void(format::Program&)>& spoil) {
    FakePackage package;
    format::Program& p = package.AddChain("NPU,CPU", 16, MixedChain());
    spoil(p);
    Opener opener;
    const Status s = OpenStatus(package, opener);
    EXPECT_FALSE(s.ok()) << what;
    EXPECT_TRUE(s.code() == Code::kDataCorrupt || s.code() == Code::kUnsupported ||
                s.code() == Code::kResourceExhausted || s.code() == Code::kNotFound ||
                s.code() == Code::kInvalidArgument)
        << what << ": " << s.message();
  };
  refused("no block", [](format::Program& p) { p.blocks.clear(); });
  refused("slot out of range", [](format::Program& p) { p.blocks[0].steps[0].inputs = {99}; });
  refused("executable out of range",
          [](format::Program& p) { p.blocks[0].steps[0].executable = 9; });
  refused("fixed slot past the arena", [](format::Program& p) { p.slots[2].offset = 64; });
  refused("fixed slot offset overflows",
          [](format::Program& p) { p.slots[2].offset = ~std::uint64_t{63}; });
  refused("unaligned slot", [](format::Program& p) { p.arena_bytes = 256, p.slots[2].offset = 4; });
  refused("writes an input", [](format::Program& p) { p.blocks[0].steps[0].outputs = {0}; });
  refused("input index", [](format::Program& p) { p.slots[0].index = 3; });
  refused("output without a slot",
          [](format::Program& p) { p.slots[1].kind = format::SlotKind::kFixed; });
  refused("slot of another type", [](format::Program& p) {
    p.slots[0].type = tensor::Type::Tensor(DType::kF32, tensor::Dims{8});
  });
  refused("blob of another size", [](format::Program& p) {
    const auto smaller = tensor::Type::Tensor(DType::kF32, tensor::Dims{8});
    for (format::Slot& s : p.slots) s.type = smaller;
    p.input_types = p.output_types = {smaller};
  });
  refused("no such device", [](format::Program& p) { p.executables[0].device = "other"; });
  refused("a huge arena", [](format::Program& p) { p.arena_bytes = ~std::uint64_t{0}; });
  refused("huge scratch",
          [](format::Program& p) { p.executables[0].scratch_bytes = ~std::uint64_t{0}; });
  refused("copy between types", [](format::Program& p) {
    p.slots.push_back({.name = "c", .type = tensor::Type::Tensor(DType::kF32, tensor::Dims{4})});
    p.blocks[0].steps.push_back({.kind = format::StepKind::kCopy, .inputs = {0}, .outputs = {3}});
  });
  refused("slot planned at run time",
          [](format::Program& p) { p.slots[2].kind = format::SlotKind::kDynamic; });
}

TEST(Session, SurvivesTheFailureOfAnyDeviceAllocation) {
  FakePackage package;
  package.AddChain("NPU,CPU", 16, MixedChain());
  int failures = 0;
  for (std::size_t n = 1; n < 8; ++n) {
    Opener opener;
    opener.npu.can_import = false;  // so that memory comes from the device
    opener.npu.fail_allocation = n;
    auto session = OpenSession(package, opener);
    ASSERT_NE(session, nullptr);
    auto r = *session->NewRequest();
    const std::vector<float> x = Ramp(16);
    ASSERT_OK(Bind(*r, x));
    Status s = r->Run();
    if (!s.ok()) {
      ++failures;
      EXPECT_EQ(s.code(), Code::kOutOfMemory) << s.message();
      s = r->Run();  // only the n-th fails: the request and its session are as good as before
    }
    ASSERT_OK(s);
    EXPECT_EQ(r->Output("y")->as<float>()[3], 6 * x[3] - 2);
  }
  EXPECT_GE(failures, 2);  // staging for x, and the arena
}

TEST(Session, LimitsRunsInFlight) {
  FakePackage package;
  package.AddChain("NPU,CPU", 16, MixedChain());
  Opener opener;
  auto session = OpenSession(package, opener);
  ASSERT_NE(session, nullptr);
  opener.last_npu->Hold(true);
  const std::vector<float> x = Ramp(16);
  std::vector<std::unique_ptr<Request>> flying;
  Status s;
  while (flying.size() < 1000) {
    flying.push_back(*session->NewRequest());
    ASSERT_OK(Bind(*flying.back(), x));
    s = flying.back()->Submit();
    if (!s.ok()) break;
  }
  EXPECT_EQ(s.code(), Code::kResourceExhausted);
  EXPECT_EQ(flying.size(), 257u);
  opener.last_npu->Hold(false);
  for (std::size_t i = 0; i + 1 < flying.size(); ++i) ASSERT_OK(flying[i]->Wait());
  ASSERT_OK(flying.back()->Run());
}

// What thread sanitizer looks at: one session shared by eight threads, two shapes, every third run
// cancelled or released.
TEST(Session, EightThreadsGetTheSerialAnswers) {
  FakePackage package;
  package.AddChain("NPU,CPU", 64, MixedChain());
  package.AddChain("CPU", 128,
                   {{"fake_cpu", {.scale = 2, .scratch = 64}, {}}, {"fake_cpu", {.scale = 3}, {}}});
  Opener opener;
  auto session = OpenSession(package, opener);
  ASSERT_NE(session, nullptr);
  std::atomic<int> wrong{0};
  std::atomic<int> good{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      auto r = *session->NewRequest();
      for (int i = 0; i < 60; ++i) {
        const bool large = (i + t) % 2 == 0;
        std::vector<float> x = Ramp(large ? 128 : 64);
        for (float& v : x) v += static_cast<float>(t);
        std::vector<float> y(x.size());
        if (!Bind(*r, x).ok() || !r->BindOutput("y", y.data(), y.size() * sizeof(float)).ok() ||
            !r->Submit().ok()) {
          ++wrong;
          continue;
        }
        if (i % 3 == 0) r->Cancel();
        const Status s = r->Wait();
        if (s.ok()) {
          y == Affine(x, 6, large ? 0 : -2) ? ++good : ++wrong;
        } else if (s.code() != Code::kCancelled || i % 3 != 0) {
          ++wrong;
        }
        if (i % 10 == 9) {
          if (!r->Submit().ok()) ++wrong;
          r = *session->NewRequest();  // releases the old one while it runs
        }
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_GE(good.load(), 8 * 40);
}

}  // namespace
}  // namespace npukit::runtime
