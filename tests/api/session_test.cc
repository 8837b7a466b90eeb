// session.hpp on the shared library: the package of make_package.cc, y = max(2 x + 1, 0); values
// worked out by hand.
#include "npukit/session.hpp"

#include <gtest/gtest.h>

namespace {

std::string package_path;  // argv[1]

using npukit::Request;
using npukit::Session;

Session OpenCpu() {
  auto session = Session::Open(package_path, {.device = "CPU", .threads = 1});
  if (!session) ADD_FAILURE() << session.error().message();
  return std::move(*session);
}

TEST(SessionHpp, RunsInPlace) {
  Session session = OpenCpu();
  EXPECT_EQ(session.target(), "host");
  EXPECT_EQ(session.device().substr(0, 3), "CPU");
  auto request = session.NewRequest();
  ASSERT_TRUE(request) << request.error().message();
  const std::vector<float> x = {0, 1, -1, 2.5f};
  std::vector<float> y(4);
  if (auto e = request->BindInput("x", x, {1, 4})) FAIL() << e.message();
  if (auto e = request->BindOutput("y", y)) FAIL() << e.message();
  if (auto e = request->Run()) FAIL() << e.message();
  EXPECT_EQ(y, (std::vector<float>{1, 3, 0, 6}));
  auto out = request->Output<float>("y");
  ASSERT_TRUE(out) << out.error().message();
  EXPECT_EQ(out->data.data(), y.data());
  EXPECT_EQ(out->dims, (std::vector<std::int64_t>{1, 4}));
  auto account = request->account();
  ASSERT_TRUE(account);
  EXPECT_EQ(account->copies, 0u);
  auto step = request->step(0);
  ASSERT_TRUE(step);
  EXPECT_EQ(step->kind, NPK_MEASURED);
}

TEST(SessionHpp, DescribesTheModel) {
  const Session session = OpenCpu();
  ASSERT_EQ(session.input_count(), 1u);
  ASSERT_EQ(session.output_count(), 1u);
  auto x = session.input(0);
  ASSERT_TRUE(x);
  EXPECT_EQ(x->name, "x");
  EXPECT_EQ(x->dtype, NPK_F32);
  EXPECT_EQ(x->dims, (std::vector<std::int64_t>{-1, 4}));
  EXPECT_EQ(session.output(0)->name, "y");
  ASSERT_EQ(session.program_count(), 2u);
  EXPECT_EQ(session.program_input(1, 0)->dims, (std::vector<std::int64_t>{2, 4}));
  EXPECT_FALSE(session.input(1));
}

TEST(SessionHpp, ErrorsAreValues) {
  auto missing = Session::Open("no/such/file.npk");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code(), NPK_NOT_FOUND);
  EXPECT_NE(missing.error().message().find("no/such/file.npk"), std::string::npos);
  Session session = OpenCpu();
  auto request = session.NewRequest();
  const std::vector<std::int32_t> ints(4);
  auto wrong = request->BindInput("x", ints, {1, 4});
  EXPECT_EQ(wrong.code(), NPK_INVALID_ARGUMENT);
  EXPECT_NE(wrong.message().find("int32"), std::string::npos) << wrong.message();
  EXPECT_FALSE(request->account());
  const std::vector<float> x = {0, 1, -1, 2.5f};
  ASSERT_FALSE(request->BindInput("x", std::span<const float>(x), {1, 4}));
  ASSERT_FALSE(request->Run());
  auto ints_out = request->Output<std::int32_t>("y");
  ASSERT_FALSE(ints_out);
  EXPECT_EQ(ints_out.error().code(), NPK_INVALID_ARGUMENT);
}

TEST(SessionHpp, RequestsMoveAndKeepTheirSession) {
  const std::vector<float> x = {0, 1, -1, 2.5f};
  auto request = [&] {
    Session session = OpenCpu();
    Request r = std::move(*session.NewRequest());
    EXPECT_FALSE(r.BindInput("x", x, {1, 4}));
    return r;
  }();
  ASSERT_FALSE(request.Submit());
  ASSERT_FALSE(request.Wait());
  EXPECT_EQ(request.Output<float>("y")->data[3], 6);
}

}  // namespace

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (argc < 2) return 77;
  package_path = argv[1];
  return RUN_ALL_TESTS();
}
