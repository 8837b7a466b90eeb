#include "lab/roofline.h"

#include <gtest/gtest.h>

namespace npukit::lab {
namespace {

// A machine of 100 GFLOP/s that reads 10 GB/s and copies 8 GB/s.
constexpr hal::Peaks kPeaks = {.gflops = 100, .read_gbytes_per_s = 10, .copy_gbytes_per_s = 8};

TimedStep Step(const char* name, const char* kernel, double macs, double vector_ops, double bytes,
               std::vector<std::int64_t> ns) {
  hal::StepInfo info;
  info.op = "conv2d+relu";
  info.name = name;
  info.kernel = kernel;
  info.macs = macs;
  info.shape = "f32[1, 2]";
  info.vector_ops = vector_ops;
  info.bytes = bytes;
  return {info, 0, std::move(ns)};
}

// By hand: 24e6 macs and 2e6 elementwise operations are 50e6 operations, at 100 GFLOP/s 0.5 ms;
// 1e6 bytes at 10 GB/s are 0.1 ms. Done in 1 ms, the fastest of 3, 1 and 2: 50 GFLOP/s, 1 GB/s,
// half of the roof, half a millisecond above it.
TEST(Roofline, ComputeIsTheRoofWhereOperationsTakeLonger) {
  const report::Roofline r =
      MakeRoofline(kPeaks, {Step("a", "gemm", 24e6, 2e6, 1e6, {3'000'000, 1'000'000, 2'000'000})});
  ASSERT_EQ(r.steps.size(), 1u);
  const report::RoofLine& l = r.steps[0];
  EXPECT_DOUBLE_EQ(l.ms, 1);
  EXPECT_DOUBLE_EQ(l.p50_ms, 2);
  EXPECT_DOUBLE_EQ(l.flops, 50e6);
  EXPECT_DOUBLE_EQ(l.gflops(), 50);
  EXPECT_DOUBLE_EQ(l.gbytes_per_s(), 1);
  EXPECT_EQ(l.roof, "compute");
  EXPECT_DOUBLE_EQ(l.bound_ms, 0.5);
  EXPECT_DOUBLE_EQ(l.of_roof(), 0.5);
  EXPECT_DOUBLE_EQ(l.above_ms(), 0.5);
  EXPECT_DOUBLE_EQ(l.share, 1);
  EXPECT_EQ(r.runs, 3u);
}

// By hand: 4e6 bytes at 10 GB/s, the better of the two rates, are 0.4 ms; 1e6 operations are
// 0.01 ms. Done in 0.2 ms: 20 GB/s, twice the roof. Said as it is: the bytes were in a cache.
TEST(Roofline, MemoryIsTheRoofWhereBytesTakeLongerAndACacheBeatsIt) {
  const report::Roofline r =
      MakeRoofline(kPeaks, {Step("b", "elementwise", 0, 1e6, 4e6, {200'000})});
  const report::RoofLine& l = r.steps[0];
  EXPECT_EQ(l.roof, "memory");
  EXPECT_DOUBLE_EQ(l.gbytes_per_s(), 20);
  EXPECT_DOUBLE_EQ(l.of_roof(), 2);
  EXPECT_DOUBLE_EQ(l.above_ms(), -0.2);
}

// By hand: gemm 1 ms + 3 ms, bounds 0.5 ms + 2 ms (memory); elementwise 0.2 ms, bound 0.4 ms; a
// view takes 0.8 ms and has nothing to do. 5 ms in all, bounds 2.9 ms, most of them memory's.
TEST(Roofline, SumsByKernelAndInAll) {
  const report::Roofline r = MakeRoofline(kPeaks, {Step("a", "gemm", 25e6, 0, 1e6, {1'000'000}),
                                                   Step("b", "elementwise", 0, 1e6, 4e6, {200'000}),
                                                   Step("c", "gemm", 1e6, 0, 20e6, {3'000'000}),
                                                   Step("d", "view", 0, 0, 0, {800'000})});
  ASSERT_EQ(r.kernels.size(), 3u);
  EXPECT_EQ(r.kernels[0].name, "gemm");
  EXPECT_EQ(r.kernels[0].steps, 2);
  EXPECT_DOUBLE_EQ(r.kernels[0].ms, 4);
  EXPECT_DOUBLE_EQ(r.kernels[0].share, 0.8);
  EXPECT_DOUBLE_EQ(r.kernels[0].bound_ms, 2.5);
  EXPECT_DOUBLE_EQ(r.kernels[0].gflops(), 13);  // 52e6 operations in 4 ms
  EXPECT_EQ(r.kernels[0].roof, "memory");
  EXPECT_EQ(r.kernels[1].name, "view");
  EXPECT_EQ(r.kernels[1].roof, "");
  EXPECT_EQ(r.kernels[2].name, "elementwise");
  EXPECT_EQ(r.steps[3].roof, "");
  EXPECT_DOUBLE_EQ(r.steps[3].share, 0.16);
  EXPECT_EQ(r.total.steps, 4);
  EXPECT_DOUBLE_EQ(r.total.ms, 5);
  EXPECT_DOUBLE_EQ(r.total.bound_ms, 2.9);
  EXPECT_DOUBLE_EQ(r.total.share, 1);
  EXPECT_EQ(r.total.roof, "memory");
}

TEST(StepTimes, KeepsTheTimesOfEachStepOfEachSegment) {
  runtime::Account account;
  account.steps.resize(3);
  account.steps[0].parts = {{{.op = "relu", .name = "a"}, 10}, {{.op = "add", .name = "b"}, 20}};
  account.steps[2].parts = {{{.op = "mul", .name = "c"}, 30}};
  StepTimes times;
  times.Add(account);
  account.steps[0].parts[1].ns = 21;
  times.Add(account);
  ASSERT_EQ(times.steps().size(), 3u);
  EXPECT_EQ(times.steps()[1].info.name, "b");
  EXPECT_EQ(times.steps()[1].ns, (std::vector<std::int64_t>{20, 21}));
  EXPECT_EQ(times.steps()[2].segment, 2);
  EXPECT_EQ(times.steps()[2].ns, (std::vector<std::int64_t>{30, 30}));
}

}  // namespace
}  // namespace npukit::lab
