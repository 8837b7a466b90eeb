// Winograd's transforms (blob/winograd.h), a vector of channels at a time: first down the columns
// of a tile, then along its rows. Every value is the same chain of operations on every target and
// for every tile, so bits do not depend on how tiles are dealt out.
#include "devices/cpu/run/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "devices/cpu/run/kernels/winograd.cc"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "devices/cpu/blob/winograd.h"
#include "devices/cpu/run/kernels/dispatch.h"
#include "devices/cpu/run/kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace npukit::devices::cpu {
namespace HWY_NAMESPACE {

template <int kOut>
struct Points;  // To: kOut + 2 pixels to points; From: points to kOut pixels

template <>
struct Points<2> {
  static HWY_INLINE void To(const V* d, V* v) {
    v[0] = hn::Sub(d[0], d[2]);
    v[1] = hn::Add(d[1], d[2]);
    v[2] = hn::Sub(d[2], d[1]);
    v[3] = hn::Sub(d[1], d[3]);
  }
  static HWY_INLINE void From(const V* m, V* y) {
    y[0] = hn::Add(m[0], hn::Add(m[1], m[2]));
    y[1] = hn::Sub(hn::Sub(m[1], m[2]), m[3]);
  }
};

template <>
struct Points<4> {
  static HWY_INLINE void To(const V* d, V* v) {
    const D f;
    constexpr float a = kWinogradA, b = kWinogradB;
    const V sum = hn::Set(f, a * a + b * b), product = hn::Set(f, a * a * b * b);
    const V a1 = hn::Set(f, a), b1 = hn::Set(f, b), a2 = hn::Set(f, a * a), b2 = hn::Set(f, b * b);
    v[0] = hn::MulAdd(product, d[0], hn::NegMulAdd(sum, d[2], d[4]));
    const V even_a = hn::NegMulAdd(b2, d[2], d[4]), odd_a = hn::NegMulAdd(b2, d[1], d[3]);
    v[1] = hn::MulAdd(a1, odd_a, even_a);
    v[2] = hn::NegMulAdd(a1, odd_a, even_a);
    const V even_b = hn::NegMulAdd(a2, d[2], d[4]), odd_b = hn::NegMulAdd(a2, d[1], d[3]);
    v[3] = hn::MulAdd(b1, odd_b, even_b);
    v[4] = hn::NegMulAdd(b1, odd_b, even_b);
    v[5] = hn::MulAdd(product, d[1], hn::NegMulAdd(sum, d[3], d[5]));
  }
  static HWY_INLINE void From(const V* m, V* y) {
    const D f;
    constexpr float a = kWinogradA, b = kWinogradB;
    const V even_a = hn::Add(m[1], m[2]), odd_a = hn::Sub(m[1], m[2]);
    const V even_b = hn::Add(m[3], m[4]), odd_b = hn::Sub(m[3], m[4]);
    y[0] = hn::Add(m[0], hn::Add(even_a, even_b));
    y[1] = hn::MulAdd(hn::Set(f, b), odd_b, hn::Mul(hn::Set(f, a), odd_a));
    y[2] = hn::MulAdd(hn::Set(f, b * b), even_b, hn::Mul(hn::Set(f, a * a), even_a));
    y[3] = hn::MulAdd(hn::Set(f, b * b * b), odd_b, hn::MulAdd(hn::Set(f, a * a * a), odd_a, m[5]));
  }
};

// One tile, one vector of channels from c on. kInside: the whole tile lies in the image.
template <int kOut, bool kInside, bool kPart>
HWY_INLINE void TileIn(const WinogradIn& t, std::int64_t x0, std::int64_t c, float* out) {
  const D d;
  constexpr int kSide = kOut + 2;
  V columns[kSide][kSide];
  for (int x = 0; x < kSide; ++x) {
    V pixel[kSide], point[kSide];
    for (int y = 0; y < kSide; ++y) {
      const bool there =
          kInside || (t.y + y >= 0 && t.y + y < t.height && x0 + x >= 0 && x0 + x < t.width);
      if (!there) {
        pixel[y] = hn::Zero(d);
        continue;
      }
      const float* at = t.image + ((t.y + y) * t.width + x0 + x) * t.channels + c;
      // What the tile below will read and this one did not (past the image nothing is read): large
      // images come from memory, row by row too short for the machine to see what is next.
      if (kInside && y >= 2 && x >= 2 && t.y + y + kOut < t.height)
        hwy::Prefetch(at + kOut * t.width * t.channels);
      pixel[y] = kPart ? LoadFirst(d, at, t.channels - c) : hn::LoadU(d, at);
    }
    Points<kOut>::To(pixel, point);
    for (int y = 0; y < kSide; ++y) columns[y][x] = point[y];
  }
  for (int y = 0; y < kSide; ++y) {
    V point[kSide];
    Points<kOut>::To(columns[y], point);
    for (int x = 0; x < kSide; ++x)
      hn::StoreU(point[x], d, out + (y * kSide + x) * t.point_stride + c);
  }
}

template <int kOut, bool kInside>
void Channels(const WinogradIn& t, std::int64_t x0, float* out) {
  std::int64_t c = 0;
  for (; c + kLanes <= t.channels; c += kLanes) TileIn<kOut, kInside, false>(t, x0, c, out);
  if (c < t.channels) TileIn<kOut, kInside, true>(t, x0, c, out);
}

template <int kOut>
void TilesIn(const WinogradIn& t) {
  constexpr int kSide = kOut + 2;
  const bool rows_inside = t.y >= 0 && t.y + kSide <= t.height;
  for (std::int64_t i = 0; i < t.tiles; ++i) {
    const std::int64_t x0 = t.x + i * kOut;
    float* out = t.out + i * t.tile_stride;
    if (rows_inside && x0 >= 0 && x0 + kSide <= t.width) {
      Channels<kOut, true>(t, x0, out);
    } else {
      Channels<kOut, false>(t, x0, out);
    }
  }
}

void WinogradToPoints(const WinogradIn& t) { t.m == 2 ? TilesIn<2>(t) : TilesIn<4>(t); }

template <int kOut, bool kPart>
HWY_INLINE void TileOut(const WinogradOut& t, const float* in, std::int64_t c, float* out,
                        std::int64_t cols) {
  const D d;
  constexpr int kSide = kOut + 2;
  const std::int64_t left = t.channels - c;
  V columns[kOut][kSide];
  for (int x = 0; x < kSide; ++x) {
    V point[kSide], pixel[kOut];
    for (int y = 0; y < kSide; ++y) {
      const float* at = in + (y * kSide + x) * t.point_stride + c;
      point[y] = kPart ? LoadFirst(d, at, left) : hn::LoadU(d, at);
    }
    Points<kOut>::From(point, pixel);
    for (int y = 0; y < kOut; ++y) columns[y][x] = pixel[y];
  }
  const V bias = t.bias != nullptr ? hn::LoadU(d, t.bias + c) : hn::Zero(d);
  const V lo = hn::Set(d, t.lo);
  const V hi = hn::Set(d, t.hi);
  for (int y = 0; y < kOut; ++y) {
    if (y >= t.rows) break;
    V pixel[kOut];
    Points<kOut>::From(columns[y], pixel);
    for (int x = 0; x < kOut; ++x) {
      if (x >= cols) break;
      const V value = ClampTo(hn::Add(pixel[x], bias), lo, hi);
      float* at = out + y * t.row_stride + x * t.col_stride + c;
      if constexpr (kPart) {
        StoreFirst(value, d, at, left);
      } else {
        hn::StoreU(value, d, at);
      }
    }
  }
}

template <int kOut>
void TilesOut(const WinogradOut& t) {
  for (std::int64_t i = 0; i < t.tiles; ++i) {
    const float* in = t.in + i * t.tile_stride;
    float* out = t.out + i * kOut * t.col_stride;
    const std::int64_t cols = t.cols - i * kOut;
    std::int64_t c = 0;
    for (; c + kLanes <= t.channels; c += kLanes) TileOut<kOut, false>(t, in, c, out, cols);
    if (c < t.channels) TileOut<kOut, true>(t, in, c, out, cols);
  }
}

void WinogradFromPoints(const WinogradOut& t) { t.m == 2 ? TilesOut<2>(t) : TilesOut<4>(t); }

}  // namespace HWY_NAMESPACE
}  // namespace npukit::devices::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npukit::devices::cpu {

void FillWinograd(Kernels* k) {
  k->winograd_to_points = NPUKIT_KERNEL(WinogradToPoints, k->target);
  k->winograd_from_points = NPUKIT_KERNEL(WinogradFromPoints, k->target);
}

}  // namespace npukit::devices::cpu
#endif
