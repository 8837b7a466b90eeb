// How weights lie in memory for CPU kernels: one layout for every instruction set (facts: AVX2,
// AVX-512 and NEON all run it at full speed), so a package is portable and its weights are used
// where they are mapped.
//
// A packed weight is a set of matrices, one per group: panels of 16 output channels, each panel K
// rows of 16 floats, K running over taps (kh, kw) and then input channels. Channels are padded to
// 16 with zeros, K is not padded.
//   [group][ceil(n / 16)][tap][c][16]
// The layouts for Winograd hold what is derived from a 3x3 weight (winograd.h), in the same panels:
// its points take the place of its taps, so there are 4 (F(4)) and 1.78 (F(2)) times the bytes.
#pragma once

#include <cstdint>
#include <optional>

#include "tensor/shape.h"

namespace npukit::devices::cpu {

inline constexpr std::int64_t kPanel = 16;

// Stored in blobs: append only.
enum class Layout : std::uint8_t {
  kRaw = 0,        // dense, as the operator's reference reads it
  kConv = 1,       // w [O, I/g, kh, kw]
  kDeconv = 2,     // w [I, O/g, kh, kw]
  kDepthwise = 3,  // w [C, 1, kh, kw], group == C: one matrix with c = 1
  kMatmul = 4,     // b [..., K, N]: a matrix per leading index
  kPad16 = 5,      // a vector, padded with zeros to a multiple of 16
  kDeconvRow =
      6,  // w [I, O, kh, kw] of a transposed convolution whose pixels do not overlap: a matrix per
          // kernel row, its columns the kw output pixels of an input pixel, O channels each
  kWinograd2 = 7,  // w [O, I, 3, 3], one group: 16 points
  kWinograd4 = 8,  // the same: 36 points
};
inline constexpr int kLayoutCount = 9;

// A name for packages and reports: "raw", "f32_n16k", ...
const char* LayoutName(Layout l);

// Where element (group, n, tap, c) lies in the unpacked weight: the sum of index times stride; n
// counts in two digits when n_inner is given.
struct PanelSpec {
  std::int64_t groups = 1, n = 0, taps = 1, c = 1;
  std::int64_t group_stride = 0, n_stride = 0, tap_stride = 0, c_stride = 0;
  std::int64_t n_inner = 0, n_outer_stride = 0;
  int winograd = 0;  // 2 or 4: taps are points of F(2) or F(4), and the strides are of no use
  std::int64_t n_at(std::int64_t i) const {
    return n_inner == 0 ? i * n_stride : i / n_inner * n_outer_stride + i % n_inner * n_stride;
  }
  std::int64_t k() const { return taps * c; }
  std::int64_t panels() const { return (n + kPanel - 1) / kPanel; }
  std::int64_t panel_floats() const { return k() * kPanel; }
  std::int64_t group_floats() const { return panels() * panel_floats(); }
  std::int64_t floats() const { return groups * group_floats(); }
};

// The spec of a weight of these (fp32) dims; nullopt when the dims do not suit the layout, are
// empty or too large (2^40 elements). kRaw has none; kPad16 is n values with k = 1.
std::optional<PanelSpec> SpecFor(Layout layout, const tensor::Dims& dims, std::int64_t groups);

// dst: spec.floats() floats, padding included. src: as SpecFor's dims say.
void PackPanels(const PanelSpec& spec, const float* src, float* dst);
// The inverse; padding is dropped. Exact, but for Winograd's (PointsToFilter).
void UnpackPanels(const PanelSpec& spec, const float* src, float* dst);

}  // namespace npukit::devices::cpu
