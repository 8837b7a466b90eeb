#include "ops/window.h"

#include "base/text.h"
#include "ops/window_nd.h"

namespace npukit::ops {

using tensor::Dim;
using tensor::Dims;
using tensor::Shape;

namespace {

// One of the two dimensions of a window.
WindowAxis AxisOf(const Window& w, int axis) {
  const auto a = static_cast<std::size_t>(axis);
  return {.kernel = w.kernel[a],
          .stride = w.stride[a],
          .dilation = w.dilation[a],
          .pad_begin = w.pad_begin[a],
          .pad_end = w.pad_end[a],
          .output_padding = w.output_padding[a],
          .auto_pad = w.auto_pad,
          .ceil_mode = w.ceil_mode};
}

std::string Name(int axis) { return WindowAxisName(static_cast<std::size_t>(axis), 2); }

Result<Window> ToWindow(const std::vector<WindowAxis>& axes, const Attrs& attrs) {
  Window w;
  for (std::size_t i = 0; i < 2; ++i) {
    w.kernel[i] = axes[i].kernel;
    w.stride[i] = axes[i].stride;
    w.dilation[i] = axes[i].dilation;
    w.pad_begin[i] = axes[i].pad_begin;
    w.pad_end[i] = axes[i].pad_end;
    w.output_padding[i] = axes[i].output_padding;
  }
  w.auto_pad = axes[0].auto_pad;
  w.ceil_mode = axes[0].ceil_mode;
  NPUKIT_ASSIGN_OR_RETURN(w.nhwc, ReadNhwc(attrs));
  return w;
}

}  // namespace

Result<bool> ReadNhwc(const Attrs& attrs) {
  const std::string_view layout = attrs.String("layout", "NCHW");
  if (layout == "NHWC") return true;
  if (layout == "NCHW") return false;
  return InvalidArgument(Cat("layout is ", Printable(layout), ", expected NCHW or NHWC"));
}

Result<Window> ReadWindow(const Attrs& attrs, std::array<std::int64_t, 2> kernel) {
  NPUKIT_ASSIGN_OR_RETURN(const auto axes, ReadWindowAxes(attrs, {kernel[0], kernel[1]}));
  return ToWindow(axes, attrs);
}

Result<Window> ReadPoolWindow(const Attrs& attrs) {
  const Ints k = attrs.IntList("kernel_shape");
  if (k.size() != 2)
    return InvalidArgument(Cat("kernel_shape has ", k.size(), " numbers, expected 2"));
  NPUKIT_ASSIGN_OR_RETURN(const auto axes, ReadPoolAxes(attrs, k));
  return ToWindow(axes, attrs);
}

Result<WindowSpan> SlideOver(const Window& w, int axis, std::int64_t in) {
  return SlideAxis(AxisOf(w, axis), in, Name(axis));
}

Result<WindowSpan> SpreadFrom(const Window& w, int axis, std::int64_t in) {
  return SpreadAxis(AxisOf(w, axis), in, Name(axis));
}

Result<Dim> SlideOver(const Window& w, int axis, const Dim& in) {
  return SlideAxis(AxisOf(w, axis), in, Name(axis));
}

Result<Dim> SpreadFrom(const Window& w, int axis, const Dim& in) {
  return SpreadAxis(AxisOf(w, axis), in, Name(axis));
}

ImageDims ImageOf(const Dims& d, bool nhwc) {
  NPUKIT_CHECK(d.size() == 4);
  if (nhwc) return {d[0], d[3], d[1], d[2], d[1] * d[2] * d[3], 1, d[2] * d[3], d[3]};
  return {d[0], d[1], d[2], d[3], d[1] * d[2] * d[3], d[2] * d[3], d[3], 1};
}

Result<ImageShape> ImageOf(const Shape& s, bool nhwc) {
  if (s.rank() != 4) return InvalidArgument(Cat("x is ", s.ToString(), ", expected rank 4"));
  if (nhwc) return ImageShape{s.dims[0], s.dims[3], s.dims[1], s.dims[2]};
  return ImageShape{s.dims[0], s.dims[1], s.dims[2], s.dims[3]};
}

Shape ToShape(const ImageShape& i, bool nhwc) {
  return nhwc ? Shape({i.n, i.h, i.w, i.c}) : Shape({i.n, i.c, i.h, i.w});
}

}  // namespace npukit::ops
