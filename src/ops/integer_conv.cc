#include "ops/integer_conv.h"

#include <algorithm>

#include "base/text.h"

namespace npukit::ops {

using tensor::Dim;
using tensor::Dims;
using tensor::DType;
using tensor::Shape;
using tensor::Value;

namespace {

// Number i of an attribute with one for each of `n` dimensions.
Result<std::int64_t> Nth(const Attrs& attrs, std::string_view name, std::size_t n, std::size_t i,
                         std::int64_t otherwise, std::int64_t least) {
  if (attrs.Find(name) == nullptr) return otherwise;
  const Ints list = attrs.IntList(name);
  if (list.size() != n)
    return InvalidArgument(Cat(name, " has ", list.size(), " numbers, expected ", n));
  if (list[i] < least || list[i] > kMaxWindowSize) {
    return InvalidArgument(
        Cat(name, " holds ", list[i], ", expected ", least, " to ", kMaxWindowSize));
  }
  return list[i];
}

}  // namespace

Result<std::vector<ConvAxis>> ReadConvAxes(const Attrs& attrs,
                                           std::span<const std::int64_t> kernel) {
  // auto_pad and the like, as the two-dimensional operators read them.
  Attrs rest;
  if (const AttrValue* v = attrs.Find("auto_pad")) rest.Set("auto_pad", *v);
  const std::size_t n = kernel.size();
  std::vector<ConvAxis> axes(n);
  for (std::size_t i = 0; i < n; ++i) {
    NPUKIT_ASSIGN_OR_RETURN(Window w, ReadWindow(rest, {kernel[i], 1}));
    NPUKIT_ASSIGN_OR_RETURN(w.stride[0], Nth(attrs, "strides", n, i, 1, 1));
    NPUKIT_ASSIGN_OR_RETURN(w.dilation[0], Nth(attrs, "dilations", n, i, 1, 1));
    if (w.auto_pad == AutoPad::kNotSet) {
      NPUKIT_ASSIGN_OR_RETURN(w.pad_begin[0], Nth(attrs, "pads", 2 * n, i, 0, 0));
      NPUKIT_ASSIGN_OR_RETURN(w.pad_end[0], Nth(attrs, "pads", 2 * n, n + i, 0, 0));
    }
    axes[i].window = w;
  }
  return axes;
}

Status CheckPerChannel(const InferContext& c, std::size_t input, std::size_t w) {
  if (!Has(c, input) || !c.inputs[input].is_static() || !c.inputs[w].shape ||
      c.inputs[w].shape->rank() == 0)
    return OkStatus();
  const Dims p = c.inputs[input].dims();
  if (p.empty() ||
      (p.size() == 1 && (p[0] == 1 || SameDim(c.inputs[w].shape->dims[0], Dim::Of(p[0])).ok())))
    return OkStatus();
  return InvalidArgument(Cat("input ", input, " is ", c.inputs[input].ToString(),
                             ", expected one number or one for each output channel of ",
                             c.inputs[w].ToString()));
}

Status InferIntegerConv(InferContext& c, std::size_t x, std::size_t w, DType out) {
  NPUKIT_RETURN_IF_ERROR(WantInt8(c, x));
  NPUKIT_RETURN_IF_ERROR(WantInt8(c, w));
  const std::int64_t group = c.attrs.Int("group", 1);
  if (group < 1) return InvalidArgument(Cat("group is ", group, ", expected 1 or more"));
  c.outputs[0] = tensor::Type::Tensor(out, std::nullopt);
  if (!c.inputs[x].shape || !c.inputs[w].shape) return OkStatus();
  const auto& xd = c.inputs[x].shape->dims;
  const auto& wd = c.inputs[w].shape->dims;
  if (xd.size() < 3 || xd.size() != wd.size()) {
    return InvalidArgument(Cat("x is ", c.inputs[x].ToString(), ", w is ", c.inputs[w].ToString(),
                               ", expected the same rank, 3 or more"));
  }
  std::int64_t expected = 0;
  if (xd[1].known() && wd[1].known() &&
      (__builtin_mul_overflow(wd[1].value, group, &expected) || expected != xd[1].value)) {
    return InvalidArgument(
        Cat("x has ", xd[1].value, " channels, w expects ", wd[1].value, " x group ", group));
  }
  if (wd[0].known() && wd[0].value % group != 0) {
    return InvalidArgument(
        Cat("w has ", wd[0].value, " output channels, not a multiple of group ", group));
  }
  std::vector<Dim> y = {xd[0], wd[0]};
  Ints kernel;
  for (std::size_t i = 2; i < wd.size(); ++i) {
    if (wd[i].known()) kernel.push_back(wd[i].value);
  }
  const bool known = kernel.size() + 2 == wd.size();
  if (known && c.attrs.Find("kernel_shape") != nullptr &&
      c.attrs.IntList("kernel_shape") != kernel) {
    return InvalidArgument(Cat("kernel_shape is [", JoinInts(c.attrs.IntList("kernel_shape"), ", "),
                               "], w is ", c.inputs[w].ToString()));
  }
  y.resize(wd.size());
  if (known) {
    NPUKIT_ASSIGN_OR_RETURN(const auto axes, ReadConvAxes(c.attrs, kernel));
    for (std::size_t i = 0; i < axes.size(); ++i) {
      NPUKIT_ASSIGN_OR_RETURN(y[i + 2], SlideOver(axes[i].window, 0, xd[i + 2]));
    }
  }
  c.outputs[0].shape = Shape(std::move(y));
  return OkStatus();
}

OpCost IntegerConvCost(const CostContext& c, std::size_t w) {
  OpCost cost{.bytes = AllBytes(c)};
  const double weights = CountOf(c.inputs[w]);
  if (weights > 0)
    cost.macs = CountOf(c.outputs[0]) * weights / static_cast<double>(c.inputs[w].dims()[0]);
  return cost;
}

Result<IntegerConv> IntegerConv::Make(const Attrs& attrs, const Value& x, const Value& w,
                                      const Dims& y) {
  IntegerConv conv;
  const std::span<const std::int64_t> kernel(w.dims().begin() + 2, w.dims().end());
  NPUKIT_ASSIGN_OR_RETURN(conv.axes_, ReadConvAxes(attrs, kernel));
  for (std::size_t i = 0; i < conv.axes_.size(); ++i) {
    ConvAxis& a = conv.axes_[i];
    a.in = x.dims()[i + 2];
    a.out = y[i + 2];
    NPUKIT_ASSIGN_OR_RETURN(a.span, SlideOver(a.window, 0, a.in));
    conv.area_ *= a.in;
    conv.places_ *= a.out;
    conv.taps_ *= kernel[i];
  }
  conv.empty_ = tensor::ElementCount(y) == 0;
  conv.batch_ = x.dims()[0];
  conv.in_channels_ = x.dims()[1];
  conv.channels_ = y[1];
  conv.per_group_ = w.dims()[1];
  conv.out_per_group_ = std::max<std::int64_t>(1, conv.channels_ / attrs.Int("group", 1));
  conv.x_.resize(static_cast<std::size_t>(x.count()));
  conv.w_.resize(static_cast<std::size_t>(w.count()));
  Widen(x, 0, x.count(), conv.x_.data());
  Widen(w, 0, w.count(), conv.w_.data());
  conv.start_.resize(conv.axes_.size());
  conv.tap_.resize(conv.axes_.size());
  return conv;
}

std::int32_t IntegerConv::Sum(std::int64_t n, std::int64_t o, std::int64_t place, std::int32_t zx,
                              std::int32_t zw) {
  const std::size_t rank = axes_.size();
  for (std::size_t i = rank; i-- > 0; place /= axes_[i].out) {
    const ConvAxis& a = axes_[i];
    start_[i] = place % a.out * a.window.stride[0] - a.span.pad_begin;
    tap_[i] = 0;
  }
  const std::int64_t first_x = (n * in_channels_ + o / out_per_group_ * per_group_) * area_;
  const std::int64_t first_w = o * per_group_ * taps_;
  std::uint32_t sum = 0;  // unsigned: wraps
  for (std::int64_t t = 0; t < taps_; ++t) {
    bool inside = true;
    std::int64_t at = 0;
    for (std::size_t i = 0; i < rank; ++i) {
      const std::int64_t p = start_[i] + tap_[i] * axes_[i].window.dilation[0];
      inside = inside && p >= 0 && p < axes_[i].in;
      at = at * axes_[i].in + p;
    }
    for (std::int64_t ch = 0; inside && ch < per_group_; ++ch) {
      const std::int32_t a = x_[static_cast<std::size_t>(first_x + ch * area_ + at)] - zx;
      const std::int32_t b = w_[static_cast<std::size_t>(first_w + ch * taps_ + t)] - zw;
      sum += static_cast<std::uint32_t>(a * b);
    }
    for (std::size_t i = rank; i-- > 0;) {  // the next tap
      if (++tap_[i] < axes_[i].window.kernel[0]) break;
      tap_[i] = 0;
    }
  }
  return static_cast<std::int32_t>(sum);
}

}  // namespace npukit::ops
