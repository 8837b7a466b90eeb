// Sliding windows over two spatial dimensions: the arithmetic of convolution and pooling, said
// once. Lowerings and kernels use it too, so that padding means the same everywhere. Sizes are
// bounded (kMaxSize), so no product here overflows.
#pragma once

#include <array>
#include <cstdint>

#include "base/status.h"
#include "ops/attrs.h"
#include "tensor/shape.h"

namespace npukit::ops {

inline constexpr std::int64_t kMaxWindowSize = std::int64_t{1}
                                               << 30;  // of a kernel, stride, dilation or pad

enum class AutoPad : std::uint8_t { kNotSet, kSameUpper, kSameLower, kValid };

// Attributes of conv2d, conv_transpose2d and the pools, checked. Index 0 is height, 1 is width.
struct Window {
  std::array<std::int64_t, 2> kernel{1, 1};
  std::array<std::int64_t, 2> stride{1, 1};
  std::array<std::int64_t, 2> dilation{1, 1};
  std::array<std::int64_t, 2> pad_begin{0, 0};
  std::array<std::int64_t, 2> pad_end{0, 0};
  std::array<std::int64_t, 2> output_padding{0, 0};
  AutoPad auto_pad = AutoPad::kNotSet;
  bool ceil_mode = false;
  bool nhwc = false;
  std::int64_t extent(int i) const {
    return (kernel[static_cast<std::size_t>(i)] - 1) * dilation[static_cast<std::size_t>(i)] + 1;
  }
};
// Reads strides, pads, dilations, output_padding, auto_pad, ceil_mode, layout; the kernel comes
// from the caller.
Result<Window> ReadWindow(const Attrs& attrs, std::array<std::int64_t, 2> kernel);
// kernel_shape of a pool.
Result<Window> ReadPoolWindow(const Attrs& attrs);
Result<bool> ReadNhwc(const Attrs& attrs);  // attribute `layout`

// One dimension with its padding resolved (auto_pad, ceil_mode applied).
struct WindowSpan {
  std::int64_t out = 0;
  std::int64_t pad_begin = 0;
  std::int64_t pad_end = 0;
};
Result<WindowSpan> SlideOver(const Window& w, int axis, std::int64_t in);   // conv and pool
Result<WindowSpan> SpreadFrom(const Window& w, int axis, std::int64_t in);  // transposed conv
// The same with a dimension that may be unknown; a symbol survives where the size does not change.
Result<tensor::Dim> SlideOver(const Window& w, int axis, const tensor::Dim& in);
Result<tensor::Dim> SpreadFrom(const Window& w, int axis, const tensor::Dim& in);

// A rank-4 activation in either layout.
struct ImageDims {
  std::int64_t n = 0, c = 0, h = 0, w = 0;
  std::int64_t stride_n = 0, stride_c = 0, stride_h = 0, stride_w = 0;
  std::int64_t At(std::int64_t in, std::int64_t ic, std::int64_t y, std::int64_t x) const {
    return in * stride_n + ic * stride_c + y * stride_h + x * stride_w;
  }
};
ImageDims ImageOf(const tensor::Dims& dims, bool nhwc);  // rank 4
struct ImageShape {
  tensor::Dim n, c, h, w;
};
// kInvalidArgument unless rank 4.
Result<ImageShape> ImageOf(const tensor::Shape& shape, bool nhwc);
tensor::Shape ToShape(const ImageShape& image, bool nhwc);

}  // namespace npukit::ops
