#include "ops/window_nd.h"

#include "base/text.h"

namespace npukit::ops {

using tensor::Dim;
using tensor::Dims;

namespace {

constexpr std::int64_t kMaxDim = std::int64_t{1} << 60;

// Copies attribute `name`, one number for each axis, to `member`.
Status ReadEach(const Attrs& attrs, std::string_view name, std::int64_t least,
                std::int64_t WindowAxis::* member, std::vector<WindowAxis>* axes) {
  const AttrValue* v = attrs.Find(name);
  if (v == nullptr) return OkStatus();
  const Ints& ints = std::get<Ints>(*v);
  if (ints.size() != axes->size()) {
    return InvalidArgument(Cat(name, " has ", ints.size(), " numbers, expected ", axes->size()));
  }
  for (std::size_t i = 0; i < ints.size(); ++i) {
    if (ints[i] < least || ints[i] > kMaxWindowSize) {
      return InvalidArgument(
          Cat(name, " holds ", ints[i], ", expected ", least, " to ", kMaxWindowSize));
    }
    (*axes)[i].*member = ints[i];
  }
  return OkStatus();
}

Result<AutoPad> ReadAutoPad(const Attrs& attrs) {
  const std::string_view given = attrs.String("auto_pad", "NOTSET");
  if (given == "SAME_UPPER") return AutoPad::kSameUpper;
  if (given == "SAME_LOWER") return AutoPad::kSameLower;
  if (given == "VALID") return AutoPad::kValid;
  if (given == "NOTSET" || given.empty()) return AutoPad::kNotSet;
  return InvalidArgument(
      Cat("auto_pad is ", Printable(given), ", expected NOTSET, SAME_UPPER, SAME_LOWER or VALID"));
}

bool IsSame(const WindowAxis& w) {
  return w.auto_pad == AutoPad::kSameUpper || w.auto_pad == AutoPad::kSameLower;
}

// floor(a / b) and ceil(a / b) for b > 0.
std::int64_t FloorDiv(std::int64_t a, std::int64_t b) {
  return a / b - (a % b != 0 && a < 0 ? 1 : 0);
}
std::int64_t CeilDiv(std::int64_t a, std::int64_t b) { return -FloorDiv(-a, b); }

}  // namespace

std::string WindowAxisName(std::size_t axis, std::size_t count) {
  if (count == 2) return axis == 0 ? "height" : "width";
  return Cat("spatial dimension ", axis);
}

Result<std::vector<WindowAxis>> ReadWindowAxes(const Attrs& attrs, const Ints& kernel) {
  std::vector<WindowAxis> axes(kernel.size());
  NPUKIT_ASSIGN_OR_RETURN(const AutoPad auto_pad, ReadAutoPad(attrs));
  const bool ceil_mode = attrs.Int("ceil_mode", 0) != 0;
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    if (kernel[i] < 1 || kernel[i] > kMaxWindowSize)
      return InvalidArgument(Cat("a kernel size is ", kernel[i], ", expected 1 or more"));
    axes[i].kernel = kernel[i];
    axes[i].auto_pad = auto_pad;
    axes[i].ceil_mode = ceil_mode;
  }
  NPUKIT_RETURN_IF_ERROR(ReadEach(attrs, "strides", 1, &WindowAxis::stride, &axes));
  NPUKIT_RETURN_IF_ERROR(ReadEach(attrs, "dilations", 1, &WindowAxis::dilation, &axes));
  NPUKIT_RETURN_IF_ERROR(ReadEach(attrs, "output_padding", 0, &WindowAxis::output_padding, &axes));
  NPUKIT_RETURN_IF_ERROR(ReadEach(attrs, "output_shape", 0, &WindowAxis::output_shape, &axes));
  if (const AttrValue* v = attrs.Find("pads"); v != nullptr && auto_pad == AutoPad::kNotSet) {
    const Ints& pads = std::get<Ints>(*v);
    if (pads.size() != 2 * axes.size()) {
      return InvalidArgument(Cat("pads has ", pads.size(), " numbers, expected ", 2 * axes.size()));
    }
    for (const std::int64_t p : pads) {
      if (p < 0 || p > kMaxWindowSize)
        return InvalidArgument(Cat("pads holds ", p, ", expected 0 to ", kMaxWindowSize));
    }
    for (std::size_t i = 0; i < axes.size(); ++i) {
      axes[i].pad_begin = pads[i];
      axes[i].pad_end = pads[axes.size() + i];
    }
  }
  return axes;
}

Result<std::vector<WindowAxis>> ReadPoolAxes(const Attrs& attrs, const Ints& kernel) {
  NPUKIT_ASSIGN_OR_RETURN(std::vector<WindowAxis> axes, ReadWindowAxes(attrs, kernel));
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const WindowAxis& w = axes[i];
    if (w.pad_begin < w.extent() && w.pad_end < w.extent()) continue;
    return InvalidArgument(Cat("pads of ", WindowAxisName(i, axes.size()), " are ", w.pad_begin,
                               " and ", w.pad_end, ", expected less than the window's ",
                               w.extent()));
  }
  return axes;
}

Result<WindowSpan> SlideAxis(const WindowAxis& w, std::int64_t in, const std::string& name) {
  if (in < 0 || in > kMaxDim)
    return InvalidArgument(Cat(name, " is ", in, ", too large for a window"));
  if (IsSame(w)) {
    const std::int64_t out = (in + w.stride - 1) / w.stride;
    const std::int64_t total =
        std::max<std::int64_t>(0, out == 0 ? 0 : (out - 1) * w.stride + w.extent() - in);
    const std::int64_t small = total / 2;
    const bool upper = w.auto_pad == AutoPad::kSameUpper;
    return WindowSpan{out, upper ? small : total - small, upper ? total - small : small};
  }
  const std::int64_t room = in + w.pad_begin + w.pad_end - w.extent();
  // Rounding up, one window may start inside and end beyond the pads.
  const std::int64_t spare = w.ceil_mode ? w.stride - 1 : 0;
  if (room + spare < 0 && in > 0) {
    return InvalidArgument(Cat("a window of ", w.extent(), " does not fit in ", name, " ", in,
                               " with pads ", w.pad_begin, " and ", w.pad_end));
  }
  std::int64_t out = FloorDiv(room, w.stride) + 1;
  if (w.ceil_mode) {
    out = FloorDiv(room + w.stride - 1, w.stride) + 1;
    if ((out - 1) * w.stride >= in + w.pad_begin)
      --out;  // the last window must start inside the input or the left pad
  }
  return WindowSpan{std::max<std::int64_t>(out, 0), w.pad_begin, w.pad_end};
}

Result<WindowSpan> SpreadAxis(const WindowAxis& w, std::int64_t in, const std::string& name) {
  if (in < 0 || in > (kMaxDim >> 30))
    return InvalidArgument(Cat(name, " is ", in, ", too large for a window"));
  const std::int64_t natural = in == 0 ? 0 : w.stride * (in - 1) + w.output_padding + w.extent();
  if (IsSame(w) || w.output_shape >= 0) {
    const std::int64_t out = w.output_shape >= 0 ? w.output_shape : in * w.stride;
    const std::int64_t total = std::max<std::int64_t>(0, natural - out);
    const std::int64_t small = total / 2;
    const bool upper = w.auto_pad == AutoPad::kSameUpper;
    return WindowSpan{out, upper ? small : total - small, upper ? total - small : small};
  }
  const std::int64_t out = natural - w.pad_begin - w.pad_end;
  if (out < 0 && in > 0) {
    return InvalidArgument(Cat("pads ", w.pad_begin, " and ", w.pad_end, " take more than the ",
                               natural, " of ", name));
  }
  return WindowSpan{std::max<std::int64_t>(out, 0), w.pad_begin, w.pad_end};
}

Result<Dim> SlideAxis(const WindowAxis& w, const Dim& in, const std::string& name) {
  if (in.known()) {
    NPUKIT_ASSIGN_OR_RETURN(const WindowSpan s, SlideAxis(w, in.value, name));
    return Dim::Of(s.out);
  }
  const bool same = IsSame(w) || w.pad_begin + w.pad_end + 1 == w.extent();
  return w.stride == 1 && same ? in : Dim{};
}

Result<Dim> SpreadAxis(const WindowAxis& w, const Dim& in, const std::string& name) {
  if (w.output_shape >= 0) return Dim::Of(w.output_shape);
  if (in.known()) {
    NPUKIT_ASSIGN_OR_RETURN(const WindowSpan s, SpreadAxis(w, in.value, name));
    return Dim::Of(s.out);
  }
  const bool same = IsSame(w) || w.output_padding + w.extent() == w.pad_begin + w.pad_end + 1;
  return w.stride == 1 && same ? in : Dim{};
}

Result<PlacedWindow> PlacedWindow::Slid(std::vector<WindowAxis> axes, Dims in) {
  PlacedWindow p;
  Dims kernel;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    NPUKIT_ASSIGN_OR_RETURN(const WindowSpan s,
                            SlideAxis(axes[i], in[i], WindowAxisName(i, axes.size())));
    p.spans_.push_back(s);
    p.out_.push_back(s.out);
    kernel.push_back(axes[i].kernel);
  }
  // Of a pool the kernel is but a number: its offsets mean nothing, and their product may be huge.
  const bool real = tensor::ElementCount(kernel).has_value();
  p.kernel_strides_ = real ? tensor::DenseStrides(kernel) : Dims(kernel.size(), 0);
  p.in_strides_ = tensor::DenseStrides(in);
  p.axes_ = std::move(axes);
  p.in_ = std::move(in);
  p.start_ = p.first_ = p.last_ = Dims(p.in_.size());
  return p;
}

Result<PlacedWindow> PlacedWindow::Spread(std::vector<WindowAxis> axes, Dims in) {
  PlacedWindow p;
  p.spread_ = true;
  Dims kernel;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    NPUKIT_ASSIGN_OR_RETURN(const WindowSpan s,
                            SpreadAxis(axes[i], in[i], WindowAxisName(i, axes.size())));
    p.spans_.push_back(s);
    p.out_.push_back(s.out);
    kernel.push_back(axes[i].kernel);
  }
  p.kernel_strides_ = tensor::DenseStrides(kernel);
  p.in_strides_ = tensor::DenseStrides(in);
  p.axes_ = std::move(axes);
  p.in_ = std::move(in);
  p.start_ = p.first_ = p.last_ = Dims(p.in_.size());
  return p;
}

bool PlacedWindow::Enter(const Dims& at) {
  for (std::size_t a = 0; a < axes_.size(); ++a) {
    const WindowAxis& w = axes_[a];
    if (in_[a] == 0) return false;
    if (spread_) {
      start_[a] = at[a] + spans_[a].pad_begin;
      first_[a] =
          std::max<std::int64_t>(0, CeilDiv(start_[a] - (in_[a] - 1) * w.stride, w.dilation));
      last_[a] = std::min(w.kernel, FloorDiv(start_[a], w.dilation) + 1);
    } else {
      start_[a] = at[a] * w.stride - spans_[a].pad_begin;
      first_[a] = std::max<std::int64_t>(0, CeilDiv(-start_[a], w.dilation));
      last_[a] = std::min(w.kernel, CeilDiv(in_[a] - start_[a], w.dilation));
    }
    if (first_[a] >= last_[a]) return false;
  }
  return true;
}

double PlacedWindow::CountPadded(const Dims& at) const {
  double count = 1;
  for (std::size_t a = 0; a < axes_.size(); ++a) {
    const std::int64_t start = at[a] * axes_[a].stride - spans_[a].pad_begin;
    const std::int64_t end = in_[a] + spans_[a].pad_end;
    count *= static_cast<double>(
        std::clamp<std::int64_t>(CeilDiv(end - start, axes_[a].dilation), 0, axes_[a].kernel));
  }
  return count;
}

}  // namespace npukit::ops
