// The cube: C += A B over whole L0 tiles, per Highway target. Operands are expanded to fp32 once
// per instruction (A keeps its fractals, B becomes rows of 16 columns), then blocks of rows and
// columns run with their sums in registers.
#if defined(NPUKIT_NPU_SIM_MMAD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NPUKIT_NPU_SIM_MMAD_INL_H_
#undef NPUKIT_NPU_SIM_MMAD_INL_H_
#else
#define NPUKIT_NPU_SIM_MMAD_INL_H_
#endif

#include <cstring>

#include "devices/npu_sim/run/half-inl.h"
#include "devices/npu_sim/run/kernels.h"

HWY_BEFORE_NAMESPACE();
namespace npukit::devices::npu_sim {
namespace HWY_NAMESPACE {

// 512 bytes of a fractal to fp32, order kept.
HWY_INLINE void ExpandFractal(std::int32_t type, const std::byte* src, float* dst) {
  if (type == npu::kF16) {
    for (int i = 0; i < 256; i += static_cast<int>(kN))
      hn::Store(LoadHalf(src + i * 2), D(), dst + i);
    return;
  }
  const auto* s = reinterpret_cast<const std::int8_t*>(src);
  for (int i = 0; i < 512; ++i) dst[i] = static_cast<float>(s[i]);
}

// dst[k][n] = src[n][k] for n < 16, k < block.
HWY_INLINE void TransposeFractal(const float* src, int block, float* dst) {
#if HWY_TARGET == HWY_SCALAR
  for (int k = 0; k < block; ++k) {
    for (int n = 0; n < 16; ++n) dst[k * 16 + n] = src[n * block + k];
  }
#else
  const hn::FixedTag<float, 4> d4;
  for (int k = 0; k < block; k += 4) {
    for (int n = 0; n < 16; n += 4) {
      const float* p = src + n * block + k;
      const auto v0 = hn::Load(d4, p), v1 = hn::Load(d4, p + block);
      const auto v2 = hn::Load(d4, p + 2 * block), v3 = hn::Load(d4, p + 3 * block);
      const auto t0 = hn::InterleaveLower(d4, v0, v2), t1 = hn::InterleaveLower(d4, v1, v3);
      const auto t2 = hn::InterleaveUpper(d4, v0, v2), t3 = hn::InterleaveUpper(d4, v1, v3);
      float* q = dst + k * 16 + n;
      hn::Store(hn::InterleaveLower(d4, t0, t1), d4, q);
      hn::Store(hn::InterleaveUpper(d4, t0, t1), d4, q + 16);
      hn::Store(hn::InterleaveLower(d4, t2, t3), d4, q + 32);
      hn::Store(hn::InterleaveUpper(d4, t2, t3), d4, q + 48);
    }
  }
#endif
}

// How an accumulator starts, takes the sum of a K block, and is stored; A is the kind of its
// vectors.
struct HalfAcc {
  static constexpr int kBytes = 2, kBlock = 16;
  using Elem = float;  // an fp16 value
  static HWY_INLINE V Get(const std::byte* p) { return LoadHalf(p); }
  static HWY_INLINE void Put(V v, std::byte* p) { StoreHalf(v, p); }
  static HWY_INLINE V Bias(const std::byte* p) {
    return RoundHalf(hn::LoadU(D(), reinterpret_cast<const float*>(p)));
  }
  static HWY_INLINE V Add(V acc, V s) { return RoundHalf(hn::Add(acc, s)); }
};
struct FloatAcc {
  static constexpr int kBytes = 4, kBlock = 16;
  using Elem = float;
  static HWY_INLINE V Get(const std::byte* p) {
    return hn::LoadU(D(), reinterpret_cast<const float*>(p));
  }
  static HWY_INLINE void Put(V v, std::byte* p) { hn::StoreU(v, D(), reinterpret_cast<float*>(p)); }
  static HWY_INLINE V Bias(const std::byte* p) { return Get(p); }
  static HWY_INLINE V Add(V acc, V s) { return hn::Add(acc, s); }
};
// 32 products of int8 sum exactly in fp32; only the accumulator wraps.
struct IntAcc {
  static constexpr int kBytes = 4, kBlock = 32;
  using Elem = std::int32_t;
  using VI = hn::Vec<DI>;
  static HWY_INLINE VI Get(const std::byte* p) {
    return hn::LoadU(DI(), reinterpret_cast<const std::int32_t*>(p));
  }
  static HWY_INLINE void Put(VI v, std::byte* p) {
    hn::StoreU(v, DI(), reinterpret_cast<std::int32_t*>(p));
  }
  static HWY_INLINE VI Bias(const std::byte* p) { return Get(p); }
  static HWY_INLINE VI Add(VI acc, V s) {
    // As unsigned: signed overflow is undefined where lanes are plain integers.
    const DU du;
    return hn::BitCast(DI(),
                       hn::Add(hn::BitCast(du, acc), hn::BitCast(du, hn::ConvertTo(DI(), s))));
  }
};

// kRows rows from `row` of fractal m1, kPanels blocks of 16 columns from n.
template <class Acc, int kRows, int kPanels>
HWY_INLINE void CubeBlock(const MmadArgs& x, std::int64_t m1, std::int64_t row, std::int64_t n) {
  const D d;
  const hn::Rebind<typename Acc::Elem, D> de;
  constexpr int kBlock = Acc::kBlock;
  constexpr int kVectors = kPanels * kVec;
  HWY_ALIGN typename Acc::Elem acc[kRows][kPanels * 16];
  std::byte* c = x.c + n * x.op.c_n1_stride + (m1 * 16 + row) * 16 * Acc::kBytes;
  for (int r = 0; r < kRows; ++r) {
    for (int p = 0; p < kPanels; ++p) {
      for (int v = 0; v < kVec; ++v) {
        auto start = hn::Zero(de);
        if (x.op.init == npu::kAccumulate) {
          start =
              Acc::Get(c + p * std::int64_t{x.op.c_n1_stride} + (r * 16 + v * kN) * Acc::kBytes);
        } else if (x.op.init == npu::kBias) {
          start = Acc::Bias(x.bias + ((n + p) * 16 + v * kN) * 4);
        }
        hn::Store(start, de, acc[r] + p * 16 + v * kN);
      }
    }
  }
  const std::int64_t k1 = x.op.k1;
  const float* a = x.a_scratch + m1 * k1 * 16 * kBlock + row * kBlock;
  const float* b = x.b_scratch + n * k1 * 16 * kBlock;
  const std::int64_t panel = k1 * 16 * kBlock;
  for (std::int64_t kb = 0; kb < k1; ++kb) {
    V s[kRows][kVectors];
    for (int r = 0; r < kRows; ++r) {
      for (int v = 0; v < kVectors; ++v) s[r][v] = hn::Zero(d);
    }
    for (int k = 0; k < kBlock; ++k) {
      V w[kVectors];
      for (int p = 0; p < kPanels; ++p) {
        for (int v = 0; v < kVec; ++v)
          w[p * kVec + v] = hn::Load(d, b + p * panel + k * 16 + v * kN);
      }
      for (int r = 0; r < kRows; ++r) {
        const V value = hn::Set(d, a[r * kBlock + k]);
        for (int v = 0; v < kVectors; ++v) s[r][v] = hn::MulAdd(value, w[v], s[r][v]);
      }
    }
    for (int r = 0; r < kRows; ++r) {
      for (int v = 0; v < kVectors; ++v) {
        auto* at = acc[r] + v * kN;
        hn::Store(Acc::Add(hn::Load(de, at), s[r][v]), de, at);
      }
    }
    a += 16 * kBlock;
    b += 16 * kBlock;
  }
  for (int r = 0; r < kRows; ++r) {
    for (int p = 0; p < kPanels; ++p) {
      for (int v = 0; v < kVec; ++v) {
        Acc::Put(hn::Load(de, acc[r] + p * 16 + v * kN),
                 c + p * std::int64_t{x.op.c_n1_stride} + (r * 16 + v * kN) * Acc::kBytes);
      }
    }
  }
}

template <class Acc, int kPanels>
HWY_INLINE void CubePanels(const MmadArgs& x, std::int64_t n) {
  constexpr int kMaxRows = kVec == 1 ? 8 : kVec == 2 ? 4 : HWY_ARCH_ARM ? 4 : 1;
  for (std::int64_t m1 = 0; m1 * 16 < x.op.m; ++m1) {
    const std::int64_t rows = x.op.m - m1 * 16 < 16 ? x.op.m - m1 * 16 : 16;
    std::int64_t r = 0;
    for (; r + kMaxRows <= rows; r += kMaxRows) CubeBlock<Acc, kMaxRows, kPanels>(x, m1, r, n);
    if constexpr (kMaxRows > 4) {
      for (; r + 4 <= rows; r += 4) CubeBlock<Acc, 4, kPanels>(x, m1, r, n);
    }
    if constexpr (kMaxRows > 1) {
      for (; r < rows; ++r) CubeBlock<Acc, 1, kPanels>(x, m1, r, n);
    }
  }
}

template <class Acc>
void Cube(const MmadArgs& x) {
  constexpr int kPanels = kVec == 1 ? 2 : 1;
  constexpr int kFractal = 16 * Acc::kBlock;
  const std::int64_t k1 = x.op.k1, n1 = x.op.n1, m1 = (x.op.m + 15) / 16;
  for (std::int64_t i = 0; i < m1; ++i) {
    for (std::int64_t j = 0; j < k1; ++j) {
      ExpandFractal(x.op.type, x.a + i * x.op.a_m1_stride + j * npu::kFractalBytes,
                    x.a_scratch + (i * k1 + j) * kFractal);
    }
  }
  HWY_ALIGN float fractal[kFractal];
  for (std::int64_t j = 0; j < n1; ++j) {
    for (std::int64_t i = 0; i < k1; ++i) {
      ExpandFractal(x.op.type, x.b + i * x.op.b_k1_stride + j * npu::kFractalBytes, fractal);
      TransposeFractal(fractal, Acc::kBlock, x.b_scratch + (j * k1 + i) * kFractal);
    }
  }
  std::int64_t n = 0;
  if constexpr (kPanels == 2) {
    for (; n + 2 <= n1; n += 2) CubePanels<Acc, 2>(x, n);
  }
  for (; n < n1; ++n) CubePanels<Acc, 1>(x, n);
}

void MmadF(const MmadArgs& x) {
  if (x.op.type == npu::kI8) return Cube<IntAcc>(x);
  if (x.half_accumulators) return Cube<HalfAcc>(x);
  Cube<FloatAcc>(x);
}

}  // namespace HWY_NAMESPACE
}  // namespace npukit::devices::npu_sim
HWY_AFTER_NAMESPACE();

#endif
