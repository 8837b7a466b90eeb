#include "devices/cpu/blob/packed.h"

#include <algorithm>

#include "devices/cpu/blob/winograd.h"

namespace npukit::devices::cpu {

const char* LayoutName(Layout l) {
  switch (l) {
    case Layout::kRaw:
      return "raw";
    case Layout::kConv:
      return "f32_n16k";
    case Layout::kDeconv:
      return "f32_n16k_deconv";
    case Layout::kDepthwise:
      return "f32_c16t";
    case Layout::kMatmul:
      return "f32_n16k_matmul";
    case Layout::kPad16:
      return "f32_pad16";
    case Layout::kDeconvRow:
      return "f32_n16k_deconv_row";
    case Layout::kWinograd2:
      return "f32_n16k_winograd2";
    case Layout::kWinograd4:
      return "f32_n16k_winograd4";
  }
  return "unknown";
}

std::optional<PanelSpec> SpecFor(Layout layout, const tensor::Dims& dims, std::int64_t groups) {
  constexpr std::int64_t kMaxElements = std::int64_t{1} << 40;
  const auto count = tensor::ElementCount(dims);
  if (!count || *count <= 0 || *count > kMaxElements || groups < 1) return std::nullopt;
  PanelSpec s;
  switch (layout) {
    case Layout::kRaw:
      return std::nullopt;
    case Layout::kConv:  // the source index of (g, n, tap, c): ((g * O/g + n) * I/g + c) * taps +
                         // tap
      if (dims.size() != 4 || dims[0] % groups != 0) return std::nullopt;
      s = {.groups = groups, .n = dims[0] / groups, .taps = dims[2] * dims[3], .c = dims[1]};
      s.c_stride = s.taps;
      s.n_stride = s.c * s.taps;
      s.group_stride = s.n * s.n_stride;
      break;
    case Layout::kDeconv:  // ((g * I/g + c) * O/g + n) * taps + tap
      if (dims.size() != 4 || dims[0] % groups != 0) return std::nullopt;
      s = {.groups = groups, .n = dims[1], .taps = dims[2] * dims[3], .c = dims[0] / groups};
      s.n_stride = s.taps;
      s.c_stride = s.n * s.taps;
      s.group_stride = s.c * s.c_stride;
      break;
    case Layout::kDepthwise:
      if (dims.size() != 4 || dims[1] != 1 || dims[0] != groups) return std::nullopt;
      s = {.groups = 1, .n = dims[0], .taps = dims[2] * dims[3], .c = 1};
      s.n_stride = s.taps;
      break;
    case Layout::kMatmul: {
      if (dims.size() < 2 || groups != 1) return std::nullopt;
      const std::int64_t k = dims[dims.size() - 2];
      const std::int64_t n = dims[dims.size() - 1];
      s = {.groups = *count / (k * n), .n = n, .taps = 1, .c = k};
      s.n_stride = 1;
      s.c_stride = n;
      s.group_stride = k * n;
      break;
    }
    case Layout::kPad16:
      if (groups != 1) return std::nullopt;
      s = {.groups = 1, .n = *count, .taps = 1, .c = 1};
      s.n_stride = 1;
      break;
    case Layout::kDeconvRow:
      if (dims.size() != 4 || groups != 1) return std::nullopt;
      s = {.groups = dims[2], .n = dims[3] * dims[1], .taps = 1, .c = dims[0]};
      s.group_stride = dims[3];
      s.c_stride = dims[1] * dims[2] * dims[3];
      s.n_stride = dims[2] * dims[3];
      s.n_inner = dims[1];
      s.n_outer_stride = 1;
      break;
    case Layout::kWinograd2:
    case Layout::kWinograd4: {
      if (dims.size() != 4 || dims[2] != 3 || dims[3] != 3 || groups != 1) return std::nullopt;
      const int m = layout == Layout::kWinograd2 ? 2 : 4;
      s = {.groups = 1, .n = dims[0], .taps = WinogradSide(m) * WinogradSide(m), .c = dims[1]};
      s.winograd = m;
      break;
    }
  }
  if (layout == Layout::kConv || layout == Layout::kDeconv || layout == Layout::kDepthwise)
    s.tap_stride = 1;
  return s;
}

namespace {

// Calls f(source index, packed index) for every packed element that is not padding.
template <class F>
void ForEach(const PanelSpec& s, const F& f) {
  for (std::int64_t g = 0; g < s.groups; ++g) {
    for (std::int64_t p = 0; p < s.panels(); ++p) {
      const std::int64_t lanes = std::min(kPanel, s.n - p * kPanel);
      for (std::int64_t t = 0; t < s.taps; ++t) {
        for (std::int64_t c = 0; c < s.c; ++c) {
          const std::int64_t packed =
              g * s.group_floats() + p * s.panel_floats() + (t * s.c + c) * kPanel;
          const std::int64_t raw = g * s.group_stride + t * s.tap_stride + c * s.c_stride;
          for (std::int64_t i = 0; i < lanes; ++i) f(raw + s.n_at(p * kPanel + i), packed + i);
        }
      }
    }
  }
}

// Calls f(source index of a filter's first tap, packed index of its first point) for every filter.
template <class F>
void ForEachFilter(const PanelSpec& s, const F& f) {
  for (std::int64_t n = 0; n < s.n; ++n) {
    for (std::int64_t c = 0; c < s.c; ++c)
      f((n * s.c + c) * 9, n / kPanel * s.panel_floats() + c * kPanel + n % kPanel);
  }
}

}  // namespace

void PackPanels(const PanelSpec& spec, const float* src, float* dst) {
  std::fill_n(dst, spec.floats(), 0.0f);
  if (spec.winograd != 0) {
    ForEachFilter(spec, [&](std::int64_t raw, std::int64_t packed) {
      float points[kMaxWinogradPoints];
      FilterToPoints(spec.winograd, src + raw, points);
      for (std::int64_t p = 0; p < spec.taps; ++p) dst[packed + p * spec.c * kPanel] = points[p];
    });
    return;
  }
  ForEach(spec, [&](std::int64_t raw, std::int64_t packed) { dst[packed] = src[raw]; });
}

void UnpackPanels(const PanelSpec& spec, const float* src, float* dst) {
  if (spec.winograd != 0) {
    ForEachFilter(spec, [&](std::int64_t raw, std::int64_t packed) {
      float points[kMaxWinogradPoints];
      for (std::int64_t p = 0; p < spec.taps; ++p) points[p] = src[packed + p * spec.c * kPanel];
      PointsToFilter(spec.winograd, points, dst + raw);
    });
    return;
  }
  ForEach(spec, [&](std::int64_t raw, std::int64_t packed) { dst[raw] = src[packed]; });
}

}  // namespace npukit::devices::cpu
