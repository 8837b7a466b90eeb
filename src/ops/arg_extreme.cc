#include "ops/arg_extreme.h"

#include "base/text.h"

namespace npukit::ops {

using tensor::Value;

Status InferArgExtreme(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(WantNumber(c, 0));
  c.outputs[0] = tensor::Type::Tensor(tensor::DType::kI64, std::nullopt);
  if (!c.inputs[0].shape) return OkStatus();
  tensor::Shape shape = *c.inputs[0].shape;
  NPUKIT_ASSIGN_OR_RETURN(const std::size_t axis, NormalAxis(c.attrs.Int("axis", 0), shape.rank()));
  if (shape.dims[axis].known() && shape.dims[axis].value == 0)
    return InvalidArgument(Cat("axis ", axis, " is empty: it has no largest or smallest element"));
  if (c.attrs.Int("keepdims", 1) != 0) {
    shape.dims[axis] = tensor::Dim::Of(1);
  } else {
    shape.dims.erase(shape.dims.begin() + static_cast<std::ptrdiff_t>(axis));
  }
  c.outputs[0].shape = std::move(shape);
  return OkStatus();
}

Status EvaluateArgExtreme(EvalContext& c, bool largest) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, InferArgExtreme));
  const Value& x = c.inputs[0];
  NPUKIT_ASSIGN_OR_RETURN(const std::size_t axis,
                          NormalAxis(c.attrs->Int("axis", 0), x.dims().size()));
  const bool last = c.attrs->Int("select_last_index", 0) != 0;
  const bool floats = IsRealFloat(x.dtype());
  const bool is_signed = tensor::IsSigned(x.dtype());
  const std::int64_t n = x.dims()[axis];
  const std::int64_t step = tensor::DenseStrides(x.dims())[axis];
  const auto beats = [&](std::int64_t a, std::int64_t b) {  // element a is further out than b
    if (floats) {
      const double fa = Load(x, a), fb = Load(x, b);
      return (largest ? fa > fb : fa < fb) || (fa != fa && fb == fb);
    }
    const std::uint64_t ba = LoadBits(x, largest ? a : b), bb = LoadBits(x, largest ? b : a);
    return is_signed ? static_cast<std::int64_t>(ba) > static_cast<std::int64_t>(bb) : ba > bb;
  };
  tensor::Dims outer = x.dims();
  outer[axis] = 1;
  ForEachIndex<1>(outer, {tensor::DenseStrides(x.dims())}, [&](std::int64_t i, const auto* at) {
    std::int64_t best = 0;
    for (std::int64_t k = 1; k < n; ++k) {
      const std::int64_t here = at[0] + k * step, there = at[0] + best * step;
      if (beats(here, there) || (last && !beats(there, here))) best = k;
    }
    StoreBits(y, i, static_cast<std::uint64_t>(best));
  });
  return OkStatus();
}

OpCost ArgExtremeCost(const CostContext& c) {
  return {.vector_ops = CountOf(c.inputs[0]), .bytes = AllBytes(c)};
}

}  // namespace npukit::ops
