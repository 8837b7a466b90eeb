// What an instruction set reaches when nothing stands in its way: multiply-adds on registers, and a
// plain copy.
#include "devices/cpu/run/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "devices/cpu/run/kernels/peaks.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "devices/cpu/run/kernels/dispatch.h"
#include "devices/cpu/run/kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace npukit::devices::cpu {
namespace HWY_NAMESPACE {

// Chains that wait for nothing but themselves: units times latency (four by four is the most that
// is built), and fewer than there are registers.
#if HWY_TARGET == HWY_AVX2
constexpr int kChains = 12;
#else
constexpr int kChains = 16;
#endif

// Not an array: compilers keep one in memory.
template <int kCount>
struct Chains {
  V x;
  Chains<kCount - 1> others;
  // All at once: a constructor would be compiled for another target than this one.
  static HWY_INLINE Chains Start() {
    return {hn::Set(D(), static_cast<float>(kCount)), Chains<kCount - 1>::Start()};
  }
  // x = x * scale + offset stays near offset / (1 - scale): no infinity, no denormal.
  HWY_INLINE void Step(V scale, V offset) {
    x = hn::MulAdd(x, scale, offset);
    others.Step(scale, offset);
  }
  HWY_INLINE V Sum() const { return hn::Add(x, others.Sum()); }
};
template <>
struct Chains<0> {
  static HWY_INLINE Chains Start() { return {}; }
  HWY_INLINE void Step(V, V) {}
  HWY_INLINE V Sum() const { return hn::Zero(D()); }
};

void Fma(std::int64_t rounds, float* out) {
  const D d;
  const V scale = hn::Set(d, 0.5f);
  const V offset = hn::Set(d, 1.0f);
  Chains<kChains> chains = Chains<kChains>::Start();
  for (std::int64_t r = 0; r < rounds; ++r) chains.Step(scale, offset);
  *out = hn::GetLane(hn::SumOfLanes(d, chains.Sum()));
}

std::int64_t FmaFlops() { return 2 * kChains * kLanes; }

void Copy(const float* in, float* out, std::int64_t n) {
  const D d;
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) hn::StoreU(hn::LoadU(d, in + i), d, out + i);
  if (i < n) StoreFirst(LoadFirst(d, in + i, n - i), d, out + i, n - i);
}

}  // namespace HWY_NAMESPACE
}  // namespace npukit::devices::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npukit::devices::cpu {

void FillPeaks(Kernels* k) {
  k->fma = NPUKIT_KERNEL(Fma, k->target);
  k->fma_flops = NPUKIT_KERNEL(FmaFlops, k->target)();
  k->copy = NPUKIT_KERNEL(Copy, k->target);
}

}  // namespace npukit::devices::cpu
#endif
