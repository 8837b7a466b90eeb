#include "devices/cpu/run/peaks.h"

#include <algorithm>
#include <memory>
#include <new>
#include <vector>

#include "base/env.h"
#include "base/text.h"

namespace npukit::devices::cpu {
namespace {

constexpr std::int64_t kTryForNs = 50'000'000;  // each of the three
constexpr int kTries = 3;                       // at least
constexpr std::int64_t kFmaRounds = 100'000;    // about 0.5 ms, kBursts times for each thread:
constexpr int kBursts = 4;                      // one that wakes late still takes its part
constexpr std::int64_t kBlock = std::int64_t{1} << 18;  // floats a thread takes at a time
constexpr std::int64_t kFloats = kPeakBytes / static_cast<std::int64_t>(sizeof(float));
constexpr std::int64_t kBlocks = kFloats / kBlock;

// Per second, of `amount` done by each call of `once`.
template <class F>
double BestRate(double amount, const F& once) {
  const std::int64_t start = RealEnv().NowNs();
  std::int64_t best = 0;
  for (int i = 0; i < kTries || RealEnv().NowNs() - start < kTryForNs; ++i) {
    const std::int64_t begin = RealEnv().NowNs();
    once();
    const std::int64_t ns = std::max<std::int64_t>(1, RealEnv().NowNs() - begin);
    best = i == 0 ? ns : std::min(best, ns);
  }
  return amount / static_cast<double>(best) * 1e9;
}

}  // namespace

Result<hal::Peaks> MeasurePeaks(const Kernels& kernels, ThreadPool& pool) {
  const std::unique_ptr<float[]> memory(new (std::nothrow) float[kFloats]);
  if (memory == nullptr) {
    return Status(Code::kOutOfMemory,
                  Cat("cpu: no ", kPeakBytes, " bytes to measure this machine's memory with"));
  }
  float* const floats = memory.get();
  std::fill_n(floats, kFloats, 1.0f);
  const std::size_t bursts = kBursts * static_cast<std::size_t>(pool.threads());
  std::vector<float> results(std::max<std::size_t>(bursts, kBlocks));  // so that work has a use

  hal::Peaks peaks;
  const double flops =
      static_cast<double>(kernels.fma_flops) * kFmaRounds * static_cast<double>(bursts);
  peaks.gflops = BestRate(flops,
                          [&] {
                            pool.ParallelFor(bursts, 1, [&](std::size_t begin, std::size_t end) {
                              for (std::size_t i = begin; i < end; ++i)
                                kernels.fma(kFmaRounds, &results[i]);
                            });
                          }) /
                 1e9;
  peaks.read_gbytes_per_s =
      BestRate(static_cast<double>(kPeakBytes),
               [&] {
                 pool.ParallelFor(kBlocks, 1, [&](std::size_t begin, std::size_t end) {
                   for (std::size_t i = begin; i < end; ++i)
                     results[i] =
                         kernels.sum(floats + static_cast<std::int64_t>(i) * kBlock, kBlock);
                 });
               }) /
      1e9;
  peaks.copy_gbytes_per_s =
      BestRate(static_cast<double>(kPeakBytes),
               [&] {
                 pool.ParallelFor(kBlocks / 2, 1, [&](std::size_t begin, std::size_t end) {
                   for (std::size_t i = begin; i < end; ++i) {
                     const float* from = floats + static_cast<std::int64_t>(i) * kBlock;
                     kernels.copy(from,
                                  floats + kFloats / 2 + static_cast<std::int64_t>(i) * kBlock,
                                  kBlock);
                   }
                 });
               }) /
      1e9;
  return peaks;
}

}  // namespace npukit::devices::cpu
