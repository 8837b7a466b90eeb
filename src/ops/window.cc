#include "ops/window.h"

#include <algorithm>

#include "base/text.h"

namespace npukit::ops {

using tensor::Dim;
using tensor::Dims;
using tensor::Shape;

namespace {

constexpr std::int64_t kMaxDim = std::int64_t{1} << 60;
constexpr const char* kAxisName[] = {"height", "width"};

Status ReadPair(const Attrs& attrs, std::string_view name, std::int64_t least,
                std::array<std::int64_t, 2>* out) {
  const AttrValue* v = attrs.Find(name);
  if (v == nullptr) return OkStatus();
  const Ints& ints = std::get<Ints>(*v);
  if (ints.size() != 2)
    return InvalidArgument(Cat(name, " has ", ints.size(), " numbers, expected 2"));
  for (std::size_t i = 0; i < 2; ++i) {
    if (ints[i] < least || ints[i] > kMaxWindowSize) {
      return InvalidArgument(
          Cat(name, " holds ", ints[i], ", expected ", least, " to ", kMaxWindowSize));
    }
    (*out)[i] = ints[i];
  }
  return OkStatus();
}

// floor(a / b) for b > 0.
std::int64_t FloorDiv(std::int64_t a, std::int64_t b) {
  return a / b - (a % b != 0 && a < 0 ? 1 : 0);
}

}  // namespace

Result<bool> ReadNhwc(const Attrs& attrs) {
  const std::string_view layout = attrs.String("layout", "NCHW");
  if (layout == "NHWC") return true;
  if (layout == "NCHW") return false;
  return InvalidArgument(Cat("layout is ", Printable(layout), ", expected NCHW or NHWC"));
}

Result<Window> ReadWindow(const Attrs& attrs, std::array<std::int64_t, 2> kernel) {
  Window w;
  w.kernel = kernel;
  for (const std::int64_t k : kernel) {
    if (k < 1 || k > kMaxWindowSize)
      return InvalidArgument(Cat("a kernel size is ", k, ", expected 1 or more"));
  }
  NPUKIT_RETURN_IF_ERROR(ReadPair(attrs, "strides", 1, &w.stride));
  NPUKIT_RETURN_IF_ERROR(ReadPair(attrs, "dilations", 1, &w.dilation));
  NPUKIT_RETURN_IF_ERROR(ReadPair(attrs, "output_padding", 0, &w.output_padding));
  const std::string_view auto_pad = attrs.String("auto_pad", "NOTSET");
  if (auto_pad == "SAME_UPPER") {
    w.auto_pad = AutoPad::kSameUpper;
  } else if (auto_pad == "SAME_LOWER") {
    w.auto_pad = AutoPad::kSameLower;
  } else if (auto_pad == "VALID") {
    w.auto_pad = AutoPad::kValid;
  } else if (auto_pad != "NOTSET" && !auto_pad.empty()) {
    return InvalidArgument(Cat("auto_pad is ", Printable(auto_pad),
                               ", expected NOTSET, SAME_UPPER, SAME_LOWER or VALID"));
  }
  if (const AttrValue* v = attrs.Find("pads"); v != nullptr && w.auto_pad == AutoPad::kNotSet) {
    const Ints& pads = std::get<Ints>(*v);
    if (pads.size() != 4)
      return InvalidArgument(Cat("pads has ", pads.size(), " numbers, expected 4"));
    for (const std::int64_t p : pads) {
      if (p < 0 || p > kMaxWindowSize) {
        return InvalidArgument(Cat("pads holds ", p, ", expected 0 to ", kMaxWindowSize));
      }
    }
    w.pad_begin = {pads[0], pads[1]};
    w.pad_end = {pads[2], pads[3]};
  }
  w.ceil_mode = attrs.Int("ceil_mode", 0) != 0;
  NPUKIT_ASSIGN_OR_RETURN(w.nhwc, ReadNhwc(attrs));
  return w;
}

Result<Window> ReadPoolWindow(const Attrs& attrs) {
  const Ints k = attrs.IntList("kernel_shape");
  if (k.size() != 2)
    return InvalidArgument(Cat("kernel_shape has ", k.size(), " numbers, expected 2"));
  NPUKIT_ASSIGN_OR_RETURN(Window w, ReadWindow(attrs, {k[0], k[1]}));
  for (std::size_t i = 0; i < 2; ++i) {
    // A window that lies in the padding alone has nothing to reduce.
    const std::int64_t extent = w.extent(static_cast<int>(i));
    if (w.pad_begin[i] >= extent || w.pad_end[i] >= extent) {
      return InvalidArgument(Cat("pads of ", kAxisName[i], " are ", w.pad_begin[i], " and ",
                                 w.pad_end[i], ", expected less than the window's ", extent));
    }
  }
  return w;
}

Result<WindowSpan> SlideOver(const Window& w, int axis, std::int64_t in) {
  const auto a = static_cast<std::size_t>(axis);
  if (in < 0 || in > kMaxDim)
    return InvalidArgument(Cat(kAxisName[a], " is ", in, ", too large for a window"));
  const std::int64_t stride = w.stride[a];
  const std::int64_t extent = w.extent(axis);
  if (w.auto_pad == AutoPad::kSameUpper || w.auto_pad == AutoPad::kSameLower) {
    const std::int64_t out = (in + stride - 1) / stride;
    const std::int64_t total =
        std::max<std::int64_t>(0, out == 0 ? 0 : (out - 1) * stride + extent - in);
    const std::int64_t small = total / 2;
    const bool upper = w.auto_pad == AutoPad::kSameUpper;
    return WindowSpan{out, upper ? small : total - small, upper ? total - small : small};
  }
  const std::int64_t begin = w.pad_begin[a];
  const std::int64_t end = w.pad_end[a];
  const std::int64_t room = in + begin + end - extent;
  if (room < 0 && in > 0) {
    return InvalidArgument(Cat("a window of ", extent, " does not fit in ", kAxisName[a], " ", in,
                               " with pads ", begin, " and ", end));
  }
  std::int64_t out = FloorDiv(room, stride) + 1;
  if (w.ceil_mode) {
    out = FloorDiv(room + stride - 1, stride) + 1;
    if ((out - 1) * stride >= in + begin)
      --out;  // the last window must start inside the input or the left pad
  }
  return WindowSpan{std::max<std::int64_t>(out, 0), begin, end};
}

Result<WindowSpan> SpreadFrom(const Window& w, int axis, std::int64_t in) {
  const auto a = static_cast<std::size_t>(axis);
  if (in < 0 || in > (kMaxDim >> 30))
    return InvalidArgument(Cat(kAxisName[a], " is ", in, ", too large for a window"));
  const std::int64_t stride = w.stride[a];
  const std::int64_t natural =
      in == 0 ? 0 : stride * (in - 1) + w.output_padding[a] + w.extent(axis);
  if (w.auto_pad == AutoPad::kSameUpper || w.auto_pad == AutoPad::kSameLower) {
    const std::int64_t out = in * stride;
    const std::int64_t total = std::max<std::int64_t>(0, natural - out);
    const std::int64_t small = total / 2;
    const bool upper = w.auto_pad == AutoPad::kSameUpper;
    return WindowSpan{out, upper ? small : total - small, upper ? total - small : small};
  }
  const std::int64_t out = natural - w.pad_begin[a] - w.pad_end[a];
  if (out < 0 && in > 0) {
    return InvalidArgument(Cat("pads ", w.pad_begin[a], " and ", w.pad_end[a],
                               " take more than the ", natural, " of ", kAxisName[a]));
  }
  return WindowSpan{std::max<std::int64_t>(out, 0), w.pad_begin[a], w.pad_end[a]};
}

Result<Dim> SlideOver(const Window& w, int axis, const Dim& in) {
  if (in.known()) {
    NPUKIT_ASSIGN_OR_RETURN(const WindowSpan s, SlideOver(w, axis, in.value));
    return Dim::Of(s.out);
  }
  const auto a = static_cast<std::size_t>(axis);
  const bool same = w.auto_pad == AutoPad::kSameUpper || w.auto_pad == AutoPad::kSameLower ||
                    w.pad_begin[a] + w.pad_end[a] + 1 == w.extent(axis);
  return w.stride[a] == 1 && same ? in : Dim{};
}

Result<Dim> SpreadFrom(const Window& w, int axis, const Dim& in) {
  if (in.known()) {
    NPUKIT_ASSIGN_OR_RETURN(const WindowSpan s, SpreadFrom(w, axis, in.value));
    return Dim::Of(s.out);
  }
  const auto a = static_cast<std::size_t>(axis);
  const bool same = w.auto_pad == AutoPad::kSameUpper || w.auto_pad == AutoPad::kSameLower ||
                    w.output_padding[a] + w.extent(axis) == w.pad_begin[a] + w.pad_end[a] + 1;
  return w.stride[a] == 1 && same ? in : Dim{};
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
