// Depthwise convolution, NHWC: a few output pixels of a row times one vector of channels in
// registers, all taps; channels innermost among the loops, since the other order fights over cache
// sets when the channel count is a power of two.
#include "devices/cpu/run/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "devices/cpu/run/kernels/depthwise.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "devices/cpu/run/kernels/dispatch.h"
#include "devices/cpu/run/kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace npukit::devices::cpu {
namespace HWY_NAMESPACE {

constexpr int kMaxPixels = HWY_TARGET == HWY_SCALAR ? 1 : 8;

// kPixels outputs, one vector of channels from c on; kPart: the vector is the last and not full.
template <int kPixels, bool kPart>
HWY_INLINE void Vector(const DepthwiseTile& t, std::int64_t pixel0, std::int64_t c) {
  const D d;
  const std::int64_t left = t.channels - c;
  const V init = t.bias != nullptr ? hn::LoadU(d, t.bias + c) : hn::Zero(d);
  V acc[kPixels];
  for (int p = 0; p < kPixels; ++p) acc[p] = init;
  const float* w_row = t.w + (c / 16) * t.w_panel_stride + c % 16;
  const std::int64_t ps = t.pixel_stride;
  for (std::int64_t r = 0; r < t.row_count; ++r) {
    const float* x = t.rows[r] + pixel0 * ps + c;
    const float* w = w_row + r * t.w_row_stride;
    for (std::int64_t k = 0; k < t.row_taps; ++k) {
      const V wk = hn::LoadU(d, w);
      for (int p = 0; p < kPixels; ++p) {
        const float* at = x + p * ps;
        if constexpr (kPart) {
          acc[p] = hn::MulAdd(LoadFirst(d, at, left), wk, acc[p]);
        } else {
          acc[p] = hn::MulAdd(hn::LoadU(d, at), wk, acc[p]);
        }
      }
      x += t.tap_stride;
      w += 16;
    }
  }
  const V lo = hn::Set(d, t.lo);
  const V hi = hn::Set(d, t.hi);
  for (int p = 0; p < kPixels; ++p) {
    float* out = t.out + (pixel0 + p) * t.channels + c;
    if constexpr (kPart) {
      StoreFirst(ClampTo(acc[p], lo, hi), d, out, left);
    } else {
      hn::StoreU(ClampTo(acc[p], lo, hi), d, out);
    }
  }
}

template <int kPixels>
void Pixels(const DepthwiseTile& t, std::int64_t pixel0) {
  std::int64_t c = 0;
  for (; c + kLanes <= t.channels; c += kLanes) Vector<kPixels, false>(t, pixel0, c);
  if (c < t.channels) Vector<kPixels, true>(t, pixel0, c);
}

void Depthwise(const DepthwiseTile& t) {
  const std::int64_t blocks = (t.pixels + kMaxPixels - 1) / kMaxPixels;
  for (std::int64_t b = 0; b < blocks; ++b) {
    const std::int64_t p0 = b * t.pixels / blocks;
    switch (static_cast<int>((b + 1) * t.pixels / blocks - p0)) {
      case 1:
        Pixels<1>(t, p0);
        break;
#if HWY_TARGET != HWY_SCALAR
      case 2:
        Pixels<2>(t, p0);
        break;
      case 3:
        Pixels<3>(t, p0);
        break;
      case 4:
        Pixels<4>(t, p0);
        break;
      case 5:
        Pixels<5>(t, p0);
        break;
      case 6:
        Pixels<6>(t, p0);
        break;
      case 7:
        Pixels<7>(t, p0);
        break;
      case 8:
        Pixels<8>(t, p0);
        break;
#endif
      default:
        break;
    }
  }
}

std::int64_t DepthwisePixels() { return kMaxPixels; }

}  // namespace HWY_NAMESPACE
}  // namespace npukit::devices::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npukit::devices::cpu {

void FillDepthwise(Kernels* k) {
  k->depthwise = NPUKIT_KERNEL(Depthwise, k->target);
  k->depthwise_pixels = NPUKIT_KERNEL(DepthwisePixels, k->target)();
}

}  // namespace npukit::devices::cpu
#endif
