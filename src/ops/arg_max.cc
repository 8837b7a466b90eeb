#include "base/text.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Value;

Status Infer(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(WantNumber(c, 0));
  c.outputs[0] = tensor::Type::Tensor(tensor::DType::kI64, std::nullopt);
  if (!c.inputs[0].shape) return OkStatus();
  tensor::Shape shape = *c.inputs[0].shape;
  NPUKIT_ASSIGN_OR_RETURN(const std::size_t axis, NormalAxis(c.attrs.Int("axis", 0), shape.rank()));
  if (shape.dims[axis].known() && shape.dims[axis].value == 0)
    return InvalidArgument(Cat("axis ", axis, " is empty: nothing is the largest"));
  if (c.attrs.Int("keepdims", 1) != 0) {
    shape.dims[axis] = tensor::Dim::Of(1);
  } else {
    shape.dims.erase(shape.dims.begin() + static_cast<std::ptrdiff_t>(axis));
  }
  c.outputs[0].shape = std::move(shape);
  return OkStatus();
}

// The first of equals, or the last. NaN counts as larger than any number, as in numpy.
Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  const Value& x = c.inputs[0];
  NPUKIT_ASSIGN_OR_RETURN(const std::size_t axis,
                          NormalAxis(c.attrs->Int("axis", 0), x.dims().size()));
  const bool last = c.attrs->Int("select_last_index", 0) != 0;
  const bool floats = IsRealFloat(x.dtype());
  const std::int64_t n = x.dims()[axis];
  const std::int64_t step = tensor::DenseStrides(x.dims())[axis];
  const auto larger = [&](std::int64_t a, std::int64_t b) {  // element a is larger than element b
    if (floats) {
      const double fa = Load(x, a), fb = Load(x, b);
      return fa > fb || (fa != fa && fb == fb);
    }
    const std::uint64_t ba = LoadBits(x, a), bb = LoadBits(x, b);
    return tensor::IsSigned(x.dtype())
               ? static_cast<std::int64_t>(ba) > static_cast<std::int64_t>(bb)
               : ba > bb;
  };
  tensor::Dims outer = x.dims();
  outer[axis] = 1;
  ForEachIndex<1>(outer, {tensor::DenseStrides(x.dims())}, [&](std::int64_t i, const auto* at) {
    std::int64_t best = 0;
    for (std::int64_t k = 1; k < n; ++k) {
      const std::int64_t here = at[0] + k * step, there = at[0] + best * step;
      if (larger(here, there) || (last && !larger(there, here))) best = k;
    }
    StoreBits(y, i, static_cast<std::uint64_t>(best));
  });
  return OkStatus();
}

constexpr AttrDef kAttrs[] = {
    {"axis", AttrKind::kInt}, {"keepdims", AttrKind::kInt}, {"select_last_index", AttrKind::kInt}};

OpCost ArgMaxCost(const CostContext& c) {
  return {.vector_ops = CountOf(c.inputs[0]), .bytes = AllBytes(c)};
}

}  // namespace

constinit const OpDef op::arg_max = {
    .name = "arg_max",
    .summary = "where the largest element along an axis is, as int64; the first of equals",
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = ArgMaxCost,
    .loop = LoopShape::kOther,
    .layout = LayoutRule::kFixed,
    .foreign = {.onnx = "ArgMax", .tflite = "ARG_MAX", .nnrt = "OH_NN_OPS_ARG_MAX"},
};

}  // namespace npukit
