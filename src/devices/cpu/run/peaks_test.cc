#include "devices/cpu/run/peaks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace npukit::devices::cpu {
namespace {

TEST(Peaks, ArePositiveAndFiniteOnEveryTarget) {
  for (const Target t : SupportedTargets()) {
    for (const int threads : {1, 3}) {
      ThreadPool pool(threads);
      const auto peaks = MeasurePeaks(*KernelsFor(t), pool);
      ASSERT_TRUE(peaks.ok()) << peaks.status().message();
      for (const double v : {peaks->gflops, peaks->read_gbytes_per_s, peaks->copy_gbytes_per_s}) {
        EXPECT_GT(v, 0) << TargetName(t);
        EXPECT_TRUE(std::isfinite(v)) << TargetName(t);
      }
    }
  }
}

// By hand: x = x / 2 + 1 has 2 as its fixed point, which floats reach from any start below 24 in
// far fewer than 100 rounds. A round is one multiply-add, two operations, for each lane of each
// chain: the sum of all those 2s is the number of operations of a round.
TEST(Peaks, TheProbeDoesTheMultiplyAddsItCounts) {
  for (const Target t : SupportedTargets()) {
    const Kernels& k = *KernelsFor(t);
    float sum = 0;
    k.fma(100, &sum);
    EXPECT_EQ(sum, static_cast<float>(k.fma_flops)) << TargetName(t);
  }
}

TEST(Peaks, CopyCopiesEveryLengthAndNoMore) {
  for (const Target t : SupportedTargets()) {
    const Kernels& k = *KernelsFor(t);
    for (std::size_t n = 0; n < 70; ++n) {
      std::vector<float> in(n), out(n + 1, -1.0f);
      for (std::size_t i = 0; i < n; ++i) in[i] = static_cast<float>(i) + 0.5f;
      k.copy(in.data(), out.data(), static_cast<std::int64_t>(n));
      for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(out[i], in[i]) << n << " " << TargetName(t);
      ASSERT_EQ(out[n], -1.0f) << n << " " << TargetName(t);
    }
  }
}

}  // namespace
}  // namespace npukit::devices::cpu
