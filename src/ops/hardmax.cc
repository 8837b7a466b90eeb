#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Value;

Status Infer(InferContext& c) {
  if (c.inputs[0].shape) {
    NPUKIT_RETURN_IF_ERROR(NormalAxis(c.attrs.Int("axis", -1), c.inputs[0].shape->rank()).status());
  }
  return InferSameFloat(c);
}

// NaN is the largest, as in arg_max.
Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  const Value& x = c.inputs[0];
  NPUKIT_ASSIGN_OR_RETURN(const std::size_t axis,
                          NormalAxis(c.attrs->Int("axis", -1), x.dims().size()));
  const std::int64_t n = x.dims()[axis];
  const std::int64_t step = tensor::DenseStrides(x.dims())[axis];
  tensor::Dims outer = x.dims();
  outer[axis] = n == 0 ? 0 : 1;
  ForEachIndex<1>(outer, {tensor::DenseStrides(x.dims())}, [&](std::int64_t, const auto* at) {
    std::int64_t best = 0;
    for (std::int64_t k = 1; k < n; ++k) {
      const double here = Load(x, at[0] + k * step), so_far = Load(x, at[0] + best * step);
      if (here > so_far || (here != here && so_far == so_far)) best = k;
    }
    for (std::int64_t k = 0; k < n; ++k) Store(y, at[0] + k * step, k == best ? 1 : 0);
  });
  return OkStatus();
}

constexpr AttrDef kAttrs[] = {{"axis", AttrKind::kInt}};

}  // namespace

constinit const OpDef op::hardmax = {
    .name = "hardmax",
    .summary = "1 for the first largest element along one axis, 0 for the others",
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = CostPerElement,
    .loop = LoopShape::kOther,
    .layout = LayoutRule::kFixed,
    .foreign = {.onnx = "Hardmax"},
};

}  // namespace npukit
