// Interpolation between rows and blocked transposition.
#include "devices/cpu/run/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "devices/cpu/run/kernels/move.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "devices/cpu/run/kernels/dispatch.h"
#include "devices/cpu/run/kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace npukit::devices::cpu {
namespace HWY_NAMESPACE {

void Lerp(const float* a, const float* b, float t, float* out, std::int64_t n) {
  const D d;
  const V w = hn::Set(d, t);
  for (std::int64_t i = 0; i < n; i += kLanes) {
    const V x = LoadUpTo(d, a + i, n - i);
    const V y = LoadUpTo(d, b + i, n - i);
    StoreUpTo(hn::MulAdd(w, hn::Sub(y, x), x), d, out + i, n - i);
  }
}

// Planes to pixels of three channels: what an image needs on its way in.
void Interleave3(const float* in, std::int64_t in_stride, std::int64_t n, float* out) {
  std::int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const D d;
  for (; i + kLanes <= n; i += kLanes) {
    hn::StoreInterleaved3(hn::LoadU(d, in + i), hn::LoadU(d, in + in_stride + i),
                          hn::LoadU(d, in + 2 * in_stride + i), d, out + 3 * i);
  }
#endif
  for (; i < n; ++i) {
    for (std::int64_t c = 0; c < 3; ++c) out[3 * i + c] = in[c * in_stride + i];
  }
}

// Squares of 16 so that both sides stay in cache; the compiler makes what it can of the inner
// loops.
void Transpose(const float* HWY_RESTRICT in, std::int64_t rows, std::int64_t cols,
               std::int64_t in_stride, float* HWY_RESTRICT out, std::int64_t out_stride) {
  if (rows == 3 && out_stride == 3) return Interleave3(in, in_stride, cols, out);
  constexpr std::int64_t kSide = 16;
  for (std::int64_t r0 = 0; r0 < rows; r0 += kSide) {
    const std::int64_t r1 = r0 + kSide < rows ? r0 + kSide : rows;
    for (std::int64_t c0 = 0; c0 < cols; c0 += kSide) {
      const std::int64_t c1 = c0 + kSide < cols ? c0 + kSide : cols;
      for (std::int64_t c = c0; c < c1; ++c) {
        for (std::int64_t r = r0; r < r1; ++r) out[c * out_stride + r] = in[r * in_stride + c];
      }
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace npukit::devices::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npukit::devices::cpu {

void FillMove(Kernels* k) {
  k->lerp = NPUKIT_KERNEL(Lerp, k->target);
  k->transpose = NPUKIT_KERNEL(Transpose, k->target);
}

}  // namespace npukit::devices::cpu
#endif
