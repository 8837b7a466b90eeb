// Register-blocked matrix product over panels of 16 columns; see GemmTile. Measured against other
// blockings in facts/cpu-kernels: 8 rows x 3 panels on AVX-512, 6 x 1 on AVX2 and NEON reach 95 %
// of peak. K is never blocked, so every output is one chain of multiply-adds in ascending k, the
// same for every row block.
#include "devices/cpu/run/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "devices/cpu/run/kernels/gemm.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "devices/cpu/run/kernels/dispatch.h"
#include "devices/cpu/run/kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace npukit::devices::cpu {
namespace HWY_NAMESPACE {

constexpr int kPanelVectors = static_cast<int>(16 / kLanes);
#if HWY_TARGET == HWY_SCALAR
constexpr int kMaxRows = 2;
#elif HWY_TARGET == HWY_AVX3
constexpr int kMaxRows = 8;
#else
constexpr int kMaxRows = 6;
#endif

// Panels side by side for a block of this many rows: enough independent chains to hide the latency
// of an FMA, no more accumulators than the machine has registers for.
constexpr int MaxPanels(int rows) {
  if (HWY_TARGET == HWY_SCALAR) return 1;
  const int registers = HWY_TARGET == HWY_AVX3 || HWY_ARCH_ARM ? 24 : 12;
  const int panels = registers / (rows * kPanelVectors);
  return panels < 1 ? 1 : panels > 4 ? 4 : panels;
}

template <int kRows, int kPanels>
void Block(const GemmTile& t, std::int64_t row0, std::int64_t col0) {
  const D d;
  constexpr int kVectors = kPanels * kPanelVectors;
  V acc[kRows][kVectors];
  for (int v = 0; v < kVectors; ++v) {
    const V init = t.bias != nullptr ? hn::LoadU(d, t.bias + col0 + v * kLanes) : hn::Zero(d);
    for (int r = 0; r < kRows; ++r) acc[r][v] = init;
  }
  const float* panels = t.w + (col0 / 16) * t.panel_stride;
  const std::int64_t ps = t.panel_stride;
  const std::int64_t s = t.a_stride;
  for (std::int64_t g = 0; g < t.segment_count; ++g) {
    const float* w = panels + t.segments[g].k * 16;
    const float* a0 = t.segments[g].a + row0 * s;
    const float* a3 = a0 + 3 * s;
    const float* a6 = a0 + 6 * s;
#if HWY_ARCH_X86
    // Rows are base + {0, 1, 2} strides from three bases: one address register each. Told where the
    // bases come from, the compiler would keep a pointer per row and spill.
    asm("" : "+r"(a3), "+r"(a6));
#endif
    for (std::int64_t k = 0; k < t.run; ++k) {
      V b[kVectors];
      for (int p = 0; p < kPanels; ++p) {
        for (int v = 0; v < kPanelVectors; ++v)
          b[p * kPanelVectors + v] = hn::LoadU(d, w + p * ps + v * kLanes);
      }
      w += 16;
      for (int r = 0; r < kRows; ++r) {
        const float* base = r < 3 ? a0 : r < 6 ? a3 : a6;
        const V x = hn::Set(d, base[(r % 3) * s]);
        for (int v = 0; v < kVectors; ++v) acc[r][v] = hn::MulAdd(x, b[v], acc[r][v]);
      }
      ++a0;
      ++a3;
      ++a6;
    }
  }
  const V lo = hn::Set(d, t.lo);
  const V hi = hn::Set(d, t.hi);
  float* out = t.out + row0 * t.out_stride + col0;
  const std::int64_t cols = t.cols - col0;
  if (cols >= kPanels * 16) {
    for (int r = 0; r < kRows; ++r) {
      for (int v = 0; v < kVectors; ++v)
        hn::StoreU(ClampTo(acc[r][v], lo, hi), d, out + r * t.out_stride + v * kLanes);
    }
    return;
  }
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) {
      const std::int64_t left = cols - v * kLanes;
      if (left > 0)
        StoreUpTo(ClampTo(acc[r][v], lo, hi), d, out + r * t.out_stride + v * kLanes, left);
    }
  }
}

// The last panel when at most 8 of its columns are used: vectors of 8, so that the other half costs
// nothing.
template <int kRows>
void HalfBlock(const GemmTile& t, std::int64_t row0, std::int64_t col0) {
  using H = hn::CappedTag<float, 8>;
  using HV = hn::Vec<H>;
  constexpr std::int64_t kHalfLanes = static_cast<std::int64_t>(hn::MaxLanes(H()));
  constexpr int kVectors = static_cast<int>(8 / kHalfLanes);
  const H d;
  HV acc[kRows][kVectors];
  for (int v = 0; v < kVectors; ++v) {
    const HV init = t.bias != nullptr ? hn::LoadU(d, t.bias + col0 + v * kHalfLanes) : hn::Zero(d);
    for (int r = 0; r < kRows; ++r) acc[r][v] = init;
  }
  const float* panel = t.w + (col0 / 16) * t.panel_stride;
  const std::int64_t s = t.a_stride;
  for (std::int64_t g = 0; g < t.segment_count; ++g) {
    const float* w = panel + t.segments[g].k * 16;
    const float* a0 = t.segments[g].a + row0 * s;
    const float* a3 = a0 + 3 * s;
    const float* a6 = a0 + 6 * s;
#if HWY_ARCH_X86
    asm("" : "+r"(a3), "+r"(a6));  // see Block
#endif
    for (std::int64_t k = 0; k < t.run; ++k) {
      HV b[kVectors];
      for (int v = 0; v < kVectors; ++v) b[v] = hn::LoadU(d, w + v * kHalfLanes);
      w += 16;
      for (int r = 0; r < kRows; ++r) {
        const float* base = r < 3 ? a0 : r < 6 ? a3 : a6;
        const HV x = hn::Set(d, base[(r % 3) * s]);
        for (int v = 0; v < kVectors; ++v) acc[r][v] = hn::MulAdd(x, b[v], acc[r][v]);
      }
      ++a0;
      ++a3;
      ++a6;
    }
  }
  const HV lo = hn::Set(d, t.lo);
  const HV hi = hn::Set(d, t.hi);
  float* out = t.out + row0 * t.out_stride + col0;
  const std::int64_t cols = t.cols - col0;
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) {
      const std::int64_t left = cols - v * kHalfLanes;
      if (left > 0)
        StoreUpTo(ClampTo(acc[r][v], lo, hi), d, out + r * t.out_stride + v * kHalfLanes, left);
    }
  }
}

template <int kRows>
void RowBlock(const GemmTile& t, std::int64_t row0, std::int64_t col0, int panels) {
  if constexpr (MaxPanels(kRows) >= 4) {
    if (panels == 4) return Block<kRows, 4>(t, row0, col0);
  }
  if constexpr (MaxPanels(kRows) >= 3) {
    if (panels == 3) return Block<kRows, 3>(t, row0, col0);
  }
  if constexpr (MaxPanels(kRows) >= 2) {
    if (panels == 2) return Block<kRows, 2>(t, row0, col0);
  }
  Block<kRows, 1>(t, row0, col0);
}

void RowBlocks(const GemmTile& t, std::int64_t row0, std::int64_t col0, int rows, int panels) {
  switch (rows) {
    case 1:
      return RowBlock<1>(t, row0, col0, panels);
    case 2:
      return RowBlock<2>(t, row0, col0, panels);
#if HWY_TARGET != HWY_SCALAR
    case 3:
      return RowBlock<3>(t, row0, col0, panels);
    case 4:
      return RowBlock<4>(t, row0, col0, panels);
    case 5:
      return RowBlock<5>(t, row0, col0, panels);
    case 6:
      return RowBlock<6>(t, row0, col0, panels);
#endif
#if HWY_TARGET == HWY_AVX3
    case 7:
      return RowBlock<7>(t, row0, col0, panels);
    case 8:
      return RowBlock<8>(t, row0, col0, panels);
#endif
    default:
      return;
  }
}

constexpr int kMaxHalfRows = HWY_TARGET == HWY_SCALAR ? 2 : 8;

void HalfRowBlocks(const GemmTile& t, std::int64_t row0, std::int64_t col0, int rows) {
  switch (rows) {
    case 1:
      return HalfBlock<1>(t, row0, col0);
    case 2:
      return HalfBlock<2>(t, row0, col0);
#if HWY_TARGET != HWY_SCALAR
    case 3:
      return HalfBlock<3>(t, row0, col0);
    case 4:
      return HalfBlock<4>(t, row0, col0);
    case 5:
      return HalfBlock<5>(t, row0, col0);
    case 6:
      return HalfBlock<6>(t, row0, col0);
    case 7:
      return HalfBlock<7>(t, row0, col0);
    case 8:
      return HalfBlock<8>(t, row0, col0);
#endif
    default:
      return;
  }
}

// Calls f(first row, rows) for blocks of at most `most` rows, as even as can be (49 rows as 7 x 7).
template <class F>
HWY_INLINE void SplitRows(std::int64_t rows, std::int64_t most, const F& f) {
  const std::int64_t blocks = (rows + most - 1) / most;
  for (std::int64_t b = 0; b < blocks; ++b) {
    const std::int64_t row0 = b * rows / blocks;
    f(row0, static_cast<int>((b + 1) * rows / blocks - row0));
  }
}

// Panel groups outside, row blocks inside: the group's weights stay in the nearest cache; callers
// pass few enough rows for theirs to stay too.
void Gemm(const GemmTile& t) {
  if (t.rows <= 0 || t.cols <= 0) return;
  const bool half = t.cols % 16 > 0 && t.cols % 16 <= 8;
  const std::int64_t panels = (t.cols + 15) / 16 - (half ? 1 : 0);
  const std::int64_t row_blocks = (t.rows + kMaxRows - 1) / kMaxRows;
  const int most_rows = static_cast<int>((t.rows + row_blocks - 1) / row_blocks);
  const std::int64_t most_panels = MaxPanels(most_rows);
  const std::int64_t groups = (panels + most_panels - 1) / most_panels;
  for (std::int64_t g = 0; g < groups; ++g) {
    const std::int64_t first = g * panels / groups;
    const std::int64_t last = (g + 1) * panels / groups;
    SplitRows(t.rows, kMaxRows, [&](std::int64_t row0, int rows) {
      RowBlocks(t, row0, first * 16, rows, static_cast<int>(last - first));
    });
  }
  if (half) {
    SplitRows(t.rows, kMaxHalfRows,
              [&](std::int64_t row0, int rows) { HalfRowBlocks(t, row0, panels * 16, rows); });
  }
}

std::int64_t GemmRows() { return kMaxRows; }

}  // namespace HWY_NAMESPACE
}  // namespace npukit::devices::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npukit::devices::cpu {

void FillGemm(Kernels* k) {
  k->gemm = NPUKIT_KERNEL(Gemm, k->target);
  k->gemm_rows = NPUKIT_KERNEL(GemmRows, k->target)();
}

}  // namespace npukit::devices::cpu
#endif
