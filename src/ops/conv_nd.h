// What conv_nd and conv_transpose_nd share: the type rule and the reading of attributes.
#pragma once

#include <vector>

#include "base/text.h"
#include "ops/rules.h"
#include "ops/window_nd.h"

namespace npukit::ops {

// x [N, C, D...] with w [O, C/group, K...], or [C, O/group, K...] when `spread`; bias [O].
inline Status InferConvNd(InferContext& c, bool spread) {
  using tensor::Dim;
  NPUKIT_RETURN_IF_ERROR(WantFloat(c, 0));
  NPUKIT_RETURN_IF_ERROR(WantSameDType(c, 0, 1));
  const tensor::Type& x = c.inputs[0];
  const tensor::Type& w = c.inputs[1];
  const std::int64_t group = c.attrs.Int("group", 1);
  if (group < 1) return InvalidArgument(Cat("group is ", group, ", expected 1 or more"));
  c.outputs[0] = tensor::Type::Tensor(x.dtype, std::nullopt);
  for (const std::size_t i : {0, 1}) {
    if (c.inputs[i].shape && c.inputs[i].shape->rank() < 3) {
      return InvalidArgument(
          Cat(i == 0 ? "x" : "w", " is ", c.inputs[i].ToString(), ", expected rank 3 or more"));
    }
  }
  if (x.shape && w.shape && x.shape->rank() != w.shape->rank()) {
    return InvalidArgument(Cat("x is ", x.ToString(), " and w is ", w.ToString(),
                               ", expected the same number of dimensions"));
  }
  Dim in_channels, first, second, out_channels;
  if (x.shape) in_channels = x.shape->dims[1];
  if (w.shape) {
    first = w.shape->dims[0];
    second = w.shape->dims[1];
  }
  Dim grouped;  // second x group
  if (second.known() && __builtin_mul_overflow(second.value, group, &grouped.value))
    return InvalidArgument(
        Cat("w has ", second.value, " channels x group ", group, ", which is too many"));
  const Dim& wanted = spread ? first : grouped;  // channels of x
  out_channels = spread ? grouped : first;
  if (!SameDim(in_channels, wanted).ok()) {
    return InvalidArgument(Cat("expected ", wanted.value,
                               spread ? "" : Cat(" (", second.value, " x group ", group, ")"),
                               " channels in x, as w says, found ", in_channels.value));
  }
  if (first.known() && first.value % group != 0) {
    return InvalidArgument(Cat("w has ", first.value, spread ? " input" : " output",
                               " channels, not a multiple of group ", group));
  }
  if (Has(c, 2)) {
    NPUKIT_RETURN_IF_ERROR(WantSameDType(c, 0, 2));
    const tensor::Type& b = c.inputs[2];
    if (b.shape && (b.shape->rank() != 1 || !SameDim(b.shape->dims[0], out_channels).ok())) {
      return InvalidArgument(Cat("bias is ", b.ToString(), ", expected one number for each of the ",
                                 out_channels.value, " output channels"));
    }
  }
  if (!x.shape) return OkStatus();
  const std::size_t n = x.shape->rank() - 2;
  std::vector<Dim> y(x.shape->rank());
  y[0] = x.shape->dims[0];
  y[1] = out_channels;
  Ints kernel(n, 1);
  bool known = w.shape.has_value();
  for (std::size_t i = 0; known && i < n; ++i) {
    known = w.shape->dims[2 + i].known();
    kernel[i] = w.shape->dims[2 + i].value;
  }
  if (known) {
    NPUKIT_ASSIGN_OR_RETURN(const auto axes, ReadWindowAxes(c.attrs, kernel));
    for (std::size_t i = 0; i < n; ++i) {
      const Dim& in = x.shape->dims[2 + i];
      const std::string name = WindowAxisName(i, n);
      NPUKIT_ASSIGN_OR_RETURN(
          y[2 + i], spread ? SpreadAxis(axes[i], in, name) : SlideAxis(axes[i], in, name));
    }
  }
  c.outputs[0].shape = tensor::Shape(std::move(y));
  return OkStatus();
}

inline OpCost ConvNdCost(const CostContext& c) {
  OpCost cost{.bytes = AllBytes(c)};
  const double w = CountOf(c.inputs[1]);
  if (w > 0) cost.macs = CountOf(c.outputs[0]) * w / static_cast<double>(c.inputs[1].dims()[0]);
  return cost;
}

inline tensor::Dims SpatialDims(const tensor::Dims& dims) {
  return tensor::Dims(dims.begin() + 2, dims.end());
}

}  // namespace npukit::ops
