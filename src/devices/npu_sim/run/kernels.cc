// One table of functions per Highway target; formulas and orders are those of
// docs/npu_semantics.md.
#include "devices/npu_sim/run/kernels.h"

#include <limits>

#include "base/cpu_features.h"
#include "tensor/half.h"

// On x86: AVX-512, AVX2 and plain C++; the SSE targets would cost build time and serve nobody.
#if defined(__x86_64__) && !defined(HWY_DISABLED_TARGETS)
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
#endif
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "devices/npu_sim/run/kernels.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "devices/npu_sim/run/half-inl.h"
#include "devices/npu_sim/run/mmad-inl.h"

HWY_BEFORE_NAMESPACE();
namespace npukit::devices::npu_sim {
namespace HWY_NAMESPACE {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

void LoadF(std::int32_t type, const std::byte* src, std::int64_t n, float* dst) {
  if (type == npu::kF32) {
    std::memcpy(dst, src, static_cast<std::size_t>(n) * 4);
    return;
  }
  std::int64_t i = 0;
  for (; i + kN <= n; i += kN) hn::StoreU(LoadHalf(src + i * 2), D(), dst + i);
  for (; i < n; ++i) {
    std::uint16_t h;
    std::memcpy(&h, src + i * 2, 2);
    dst[i] = tensor::HalfToFloat(h);
  }
}

void StoreF(std::int32_t type, const float* src, std::int64_t n, std::byte* dst) {
  if (type == npu::kF32) {
    std::memcpy(dst, src, static_cast<std::size_t>(n) * 4);
    return;
  }
  std::int64_t i = 0;
  for (; i + kN <= n; i += kN) StoreHalf(hn::LoadU(D(), src + i), dst + i * 2);
  for (; i < n; ++i) {
    const std::uint16_t h = tensor::FloatToHalf(src[i]);
    std::memcpy(dst + i * 2, &h, 2);
  }
}

template <class F>
HWY_INLINE void Each(float* x, std::int64_t n, const F& f) {
  const D d;
  for (std::int64_t i = 0; i < n; i += kN) hn::Store(f(hn::Load(d, x + i)), d, x + i);
}

// 2^e for e in the range of normal numbers.
HWY_INLINE V PowerOfTwo(hn::Vec<DI> e) {
  return hn::BitCast(D(), hn::ShiftLeft<23>(hn::Add(e, hn::Set(DI(), 127))));
}

HWY_INLINE V ExpV(V x) {
  const D d;
  const DI di;
  const auto c = [&](float v) { return hn::Set(d, v); };
  const auto too_large = hn::Gt(x, c(88.72283f));
  const auto too_small = hn::Lt(x, c(-87.33654f));
  const auto nan = hn::IsNaN(x);
  // Lanes that are replaced below compute with 0, so that conversions to integer stay in range.
  const V in = hn::IfThenZeroElse(hn::Or(hn::Or(too_large, too_small), nan), x);
  const V n = hn::Round(hn::Mul(in, c(1.44269504f)));
  V r = hn::Sub(in, hn::Mul(n, c(0.693359375f)));
  r = hn::Sub(r, hn::Mul(n, c(-2.12194440e-4f)));
  V p = c(1.9875691500e-4f);
  p = hn::Add(hn::Mul(p, r), c(1.3981999507e-3f));
  p = hn::Add(hn::Mul(p, r), c(8.3334519073e-3f));
  p = hn::Add(hn::Mul(p, r), c(4.1665795894e-2f));
  p = hn::Add(hn::Mul(p, r), c(1.6666665459e-1f));
  p = hn::Add(hn::Mul(p, r), c(5.0000001201e-1f));
  V y = hn::Add(hn::Mul(p, hn::Mul(r, r)), r);
  y = hn::Add(y, c(1.0f));
  const auto ni = hn::ConvertTo(di, n);
  const auto half = hn::ShiftRight<1>(ni);
  y = hn::Mul(hn::Mul(y, PowerOfTwo(half)), PowerOfTwo(hn::Sub(ni, half)));
  y = hn::IfThenElse(too_large, c(kInfinity), y);
  y = hn::IfThenZeroElse(too_small, y);
  return hn::IfThenElse(nan, x, y);
}

HWY_INLINE V LnV(V x) {
  const D d;
  const DI di;
  const auto c = [&](float v) { return hn::Set(d, v); };
  const auto subnormal = hn::Lt(x, c(0x1p-126f));
  const V in = hn::IfThenElse(subnormal, hn::Mul(x, c(0x1p25f)), x);
  const auto bits = hn::BitCast(di, in);
  V e = hn::ConvertTo(
      d, hn::Sub(hn::And(hn::ShiftRight<23>(bits), hn::Set(di, 0xFF)), hn::Set(di, 126)));
  e = hn::Sub(e, hn::IfThenElseZero(subnormal, c(25.0f)));
  V m = hn::BitCast(d, hn::Or(hn::And(bits, hn::Set(di, 0x007FFFFF)), hn::Set(di, 0x3F000000)));
  const auto low = hn::Lt(m, c(0.707106781186547524f));
  e = hn::Sub(e, hn::IfThenElseZero(low, c(1.0f)));
  m = hn::Sub(hn::IfThenElse(low, hn::Add(m, m), m), c(1.0f));
  const V z = hn::Mul(m, m);
  V p = c(7.0376836292e-2f);
  p = hn::Add(hn::Mul(p, m), c(-1.1514610310e-1f));
  p = hn::Add(hn::Mul(p, m), c(1.1676998740e-1f));
  p = hn::Add(hn::Mul(p, m), c(-1.2420140846e-1f));
  p = hn::Add(hn::Mul(p, m), c(1.4249322787e-1f));
  p = hn::Add(hn::Mul(p, m), c(-1.6668057665e-1f));
  p = hn::Add(hn::Mul(p, m), c(2.0000714765e-1f));
  p = hn::Add(hn::Mul(p, m), c(-2.4999993993e-1f));
  p = hn::Add(hn::Mul(p, m), c(3.3333331174e-1f));
  V y = hn::Mul(hn::Mul(m, z), p);
  y = hn::Add(y, hn::Mul(e, c(-2.12194440e-4f)));
  y = hn::Sub(y, hn::Mul(c(0.5f), z));
  y = hn::Add(hn::Add(m, y), hn::Mul(e, c(0.693359375f)));
  y = hn::IfThenElse(hn::Eq(x, c(kInfinity)), x, y);
  y = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), c(std::numeric_limits<float>::quiet_NaN()), y);
  y = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), c(-kInfinity), y);
  return hn::IfThenElse(hn::IsNaN(x), x, y);
}

void UnaryF(npu::UnaryOp op, float scalar, float* x, std::int64_t n) {
  const D d;
  const V s = hn::Set(d, scalar);
  const V one = hn::Set(d, 1.0f);
  using O = npu::UnaryOp;
  switch (op) {
    case O::kCopy:
      return;
    case O::kRelu:
      return Each(x, n,
                  [&](V v) HWY_ATTR { return hn::IfThenZeroElse(hn::Lt(v, hn::Zero(d)), v); });
    case O::kAbs:
      return Each(x, n, [&](V v) HWY_ATTR {
        return hn::BitCast(d, hn::And(hn::BitCast(DI(), v), hn::Set(DI(), 0x7FFFFFFF)));
      });
    case O::kNeg:
      return Each(x, n, [&](V v) HWY_ATTR {
        return hn::BitCast(d, hn::Xor(hn::BitCast(DU(), v), hn::Set(DU(), 0x80000000u)));
      });
    case O::kExp:
      return Each(x, n, [&](V v) HWY_ATTR { return ExpV(v); });
    case O::kLn:
      return Each(x, n, [&](V v) HWY_ATTR { return LnV(v); });
    case O::kSqrt:
      return Each(x, n, [&](V v) HWY_ATTR { return hn::Sqrt(v); });
    case O::kRsqrt:
      return Each(x, n, [&](V v) HWY_ATTR { return hn::Div(one, hn::Sqrt(v)); });
    case O::kRec:
      return Each(x, n, [&](V v) HWY_ATTR { return hn::Div(one, v); });
    case O::kAdds:
      return Each(x, n, [&](V v) HWY_ATTR { return hn::Add(v, s); });
    case O::kMuls:
      return Each(x, n, [&](V v) HWY_ATTR { return hn::Mul(v, s); });
    case O::kMaxs:
      return Each(x, n, [&](V v) HWY_ATTR { return hn::IfThenElse(hn::Gt(s, v), s, v); });
    case O::kMins:
      return Each(x, n, [&](V v) HWY_ATTR { return hn::IfThenElse(hn::Lt(s, v), s, v); });
  }
}

template <class F>
HWY_INLINE void Each2(float* a, const float* b, std::int64_t n, const F& f) {
  const D d;
  for (std::int64_t i = 0; i < n; i += kN) {
    hn::Store(f(hn::Load(d, a + i), hn::Load(d, b + i)), d, a + i);
  }
}

void BinaryF(npu::BinaryOp op, float* a, const float* b, std::int64_t n) {
  using O = npu::BinaryOp;
  switch (op) {
    case O::kAdd:
      return Each2(a, b, n, [](V x, V y) HWY_ATTR { return hn::Add(x, y); });
    case O::kSub:
      return Each2(a, b, n, [](V x, V y) HWY_ATTR { return hn::Sub(x, y); });
    case O::kMul:
      return Each2(a, b, n, [](V x, V y) HWY_ATTR { return hn::Mul(x, y); });
    case O::kDiv:
      return Each2(a, b, n, [](V x, V y) HWY_ATTR { return hn::Div(x, y); });
    case O::kMax:
      return Each2(a, b, n, [](V x, V y) HWY_ATTR { return MaxV(x, y); });
    case O::kMin:
      return Each2(a, b, n, [](V x, V y) HWY_ATTR { return MinV(x, y); });
  }
}

// kPixels output columns of one row and block, all taps; the accumulators stay in registers.
template <int kPixels, npu::WindowOp kOp>
HWY_INLINE void Pixels(const WindowArgs& x, const std::byte* src, std::byte* dst,
                       const float* bias) {
  const D d;
  V acc[kPixels][kVec];
  for (int v = 0; v < kVec; ++v) {
    const V init = kOp == npu::WindowOp::kMax   ? hn::Set(d, -kInfinity)
                   : kOp == npu::WindowOp::kMac ? hn::Load(d, bias + v * kN)
                                                : hn::Zero(d);
    for (int p = 0; p < kPixels; ++p) acc[p][v] = init;
  }
  const std::int64_t step = x.op.src_stride[2];
  const float* w = x.weight_scratch;
  for (std::int32_t kh = 0; kh < x.op.kernel_h; ++kh) {
    const std::byte* row = src + std::int64_t{kh} * x.op.tap_stride[0];
    for (std::int32_t kw = 0; kw < x.op.kernel_w; ++kw) {
      const std::byte* tap = row + std::int64_t{kw} * x.op.tap_stride[1];
      for (int v = 0; v < kVec; ++v) {
        const V weight = kOp == npu::WindowOp::kMac ? hn::Load(d, w + v * kN) : hn::Zero(d);
        for (int p = 0; p < kPixels; ++p) {
          const V value = LoadHalf(tap + p * step + v * kN * 2);
          if constexpr (kOp == npu::WindowOp::kMac)
            acc[p][v] = hn::MulAdd(value, weight, acc[p][v]);
          if constexpr (kOp == npu::WindowOp::kMax) acc[p][v] = MaxV(acc[p][v], value);
          if constexpr (kOp == npu::WindowOp::kSum) acc[p][v] = hn::Add(acc[p][v], value);
        }
      }
      w += 16;
    }
  }
  for (int p = 0; p < kPixels; ++p) {
    std::byte* out = dst + std::int64_t{p} * x.op.dst_stride[2];
    for (int v = 0; v < kVec; ++v) {
      if (x.op.dst_type == npu::kF16) {
        StoreHalf(acc[p][v], out + v * kN * 2);
      } else {
        hn::StoreU(acc[p][v], d, reinterpret_cast<float*>(out) + v * kN);
      }
    }
  }
}

template <npu::WindowOp kOp>
void WindowOf(const WindowArgs& x) {
  constexpr int kPixels = kVec >= 8 ? 1 : 8 / kVec;
  const npu::Window& o = x.op;
  HWY_ALIGN float bias[16] = {};
  for (std::int64_t c1 = 0; c1 < o.count[0]; ++c1) {
    if (kOp == npu::WindowOp::kMac) {
      LoadF(npu::kF16, x.weight + c1 * o.weight_stride, std::int64_t{o.kernel_h} * o.kernel_w * 16,
            x.weight_scratch);
      if (x.bias) std::memcpy(bias, x.bias + c1 * 64, 64);
    }
    for (std::int64_t oh = 0; oh < o.count[1]; ++oh) {
      const std::byte* src = x.src + c1 * o.src_stride[0] + oh * o.src_stride[1];
      std::byte* dst = x.dst + c1 * o.dst_stride[0] + oh * o.dst_stride[1];
      std::int64_t ow = 0;
      for (; ow + kPixels <= o.count[2]; ow += kPixels) {
        Pixels<kPixels, kOp>(x, src + ow * o.src_stride[2], dst + ow * o.dst_stride[2], bias);
      }
      for (; ow < o.count[2]; ++ow) {
        Pixels<1, kOp>(x, src + ow * o.src_stride[2], dst + ow * o.dst_stride[2], bias);
      }
    }
  }
}

void WindowF(const WindowArgs& x) {
  switch (x.op.op) {
    case npu::WindowOp::kMac:
      return WindowOf<npu::WindowOp::kMac>(x);
    case npu::WindowOp::kMax:
      return WindowOf<npu::WindowOp::kMax>(x);
    case npu::WindowOp::kSum:
      return WindowOf<npu::WindowOp::kSum>(x);
  }
}

// Each lane is a chain of its own, so a few vectors side by side and the tail lane by lane give the
// same bits.
template <bool kMax, int kSide>
HWY_INLINE void RowLanes(const RowsArgs& x, std::int64_t j) {
  const D d;
  V acc[kSide];
  for (int v = 0; v < kSide; ++v) acc[v] = kMax ? hn::Set(d, -kInfinity) : hn::Zero(d);
  const std::int64_t size = npu::ElemBytes(x.type);
  const std::byte* p = x.src + j * size;
  for (std::int64_t r = 0; r < x.rows; ++r, p += x.row_stride) {
    for (int v = 0; v < kSide; ++v) {
      const V value = x.type == npu::kF16
                          ? LoadHalf(p + v * kN * 2)
                          : hn::LoadU(d, reinterpret_cast<const float*>(p) + v * kN);
      acc[v] = kMax ? MaxV(acc[v], value) : hn::Add(acc[v], value);
    }
  }
  for (int v = 0; v < kSide; ++v) hn::StoreU(acc[v], d, x.out + j + v * kN);
}

template <bool kMax>
void RowsOf(const RowsArgs& x) {
  constexpr int kSide = kVec >= 4 ? 4 : kVec;
  std::int64_t j = 0;
  for (; j + kSide * kN <= x.len; j += kSide * kN) RowLanes<kMax, kSide>(x, j);
  for (; j + kN <= x.len; j += kN) RowLanes<kMax, 1>(x, j);
  for (; j < x.len; ++j) {
    float acc = kMax ? -kInfinity : 0.0f;
    for (std::int64_t r = 0; r < x.rows; ++r) {
      float v;
      LoadF(x.type, x.src + r * x.row_stride + j * npu::ElemBytes(x.type), 1, &v);
      acc = kMax ? (acc > v || acc != acc ? acc : v) : acc + v;
    }
    x.out[j] = acc;
  }
}

void RowsF(const RowsArgs& x) { return x.max ? RowsOf<true>(x) : RowsOf<false>(x); }

template <bool kMax>
float LanesOf(const float* x, std::int64_t n) {
  const D d;
  const auto combine = [](float a, float b) { return kMax ? (a > b || a != a ? a : b) : a + b; };
  HWY_ALIGN float p[16];
  for (float& v : p) v = kMax ? -kInfinity : 0.0f;
  std::int64_t j = 0;
  for (; j + 16 <= n; j += 16) {
    for (int v = 0; v < kVec; ++v) {
      const V a = hn::Load(d, p + v * kN), b = hn::LoadU(d, x + j + v * kN);
      hn::Store(kMax ? MaxV(a, b) : hn::Add(a, b), d, p + v * kN);
    }
  }
  for (; j < n; ++j) p[j % 16] = combine(p[j % 16], x[j]);
  for (int h = 8; h > 0; h /= 2) {
    for (int l = 0; l < h; ++l) p[l] = combine(p[l], p[l + h]);
  }
  return p[0];
}

float LanesF(bool max, const float* x, std::int64_t n) {
  return max ? LanesOf<true>(x, n) : LanesOf<false>(x, n);
}

const Kernels* Table() {
  static constexpr Kernels kTable = {HWY_TARGET == HWY_AVX3   ? "avx512"
                                     : HWY_TARGET == HWY_AVX2 ? "avx2"
                                     : HWY_ARCH_ARM           ? "neon"
                                                              : "scalar",
                                     LoadF,
                                     StoreF,
                                     UnaryF,
                                     BinaryF,
                                     MmadF,
                                     WindowF,
                                     RowsF,
                                     LanesF};
  return &kTable;
}

}  // namespace HWY_NAMESPACE
}  // namespace npukit::devices::npu_sim
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npukit::devices::npu_sim {

#if defined(HWY_COMPILE_ONLY_STATIC) || ((HWY_TARGETS & (HWY_TARGETS - 1)) == 0)

std::span<const Kernels* const> AvailableKernels() {
  static const Kernels* const kOne[] = {HWY_STATIC_DISPATCH(Table)()};
  return kOne;
}

#else

std::span<const Kernels* const> AvailableKernels() {
  struct All {
    const Kernels* tables[3];
    std::size_t count = 0;
    void Add(bool runs, const Kernels* (*table)()) {
      if (runs && table != nullptr) tables[count++] = table();
    }
    All() {
      Add(CpuRunsAvx512(), HWY_CHOOSE_AVX3(Table));
      Add(CpuRunsAvx2(), HWY_CHOOSE_AVX2(Table));
      Add(true, HWY_CHOOSE_FALLBACK(Table));
    }
  };
  static const All all;
  return {all.tables, all.count};
}

#endif

}  // namespace npukit::devices::npu_sim
#endif  // HWY_ONCE
