#include <cmath>

#include "base/text.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Value;

Status Infer(InferContext& c) {
  const std::int64_t p = c.attrs.Int("p", 2);
  if (p != 1 && p != 2) return InvalidArgument(Cat("attribute p is ", p, ", expected 1 or 2"));
  if (c.inputs[0].shape) {
    NPUKIT_RETURN_IF_ERROR(NormalAxis(c.attrs.Int("axis", -1), c.inputs[0].shape->rank()).status());
  }
  return InferSameFloat(c);
}

// Where the norm is 0, so is the result.
Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  const Value& x = c.inputs[0];
  NPUKIT_ASSIGN_OR_RETURN(const std::size_t axis,
                          NormalAxis(c.attrs->Int("axis", -1), x.dims().size()));
  const bool squares = c.attrs->Int("p", 2) == 2;
  const std::int64_t n = x.dims()[axis];
  const std::int64_t step = tensor::DenseStrides(x.dims())[axis];
  tensor::Dims outer = x.dims();
  outer[axis] = n == 0 ? 0 : 1;
  ForEachIndex<1>(outer, {tensor::DenseStrides(x.dims())}, [&](std::int64_t, const auto* at) {
    double norm = 0;
    for (std::int64_t k = 0; k < n; ++k) {
      const double v = Load(x, at[0] + k * step);
      norm += squares ? v * v : std::fabs(v);
    }
    if (squares) norm = std::sqrt(norm);
    for (std::int64_t k = 0; k < n; ++k)
      Store(y, at[0] + k * step, norm == 0 ? 0 : Load(x, at[0] + k * step) / norm);
  });
  return OkStatus();
}

constexpr AttrDef kAttrs[] = {{"axis", AttrKind::kInt}, {"p", AttrKind::kInt}};

OpCost NormCost(const CostContext& c) {
  return {.vector_ops = 3 * CountOf(c.inputs[0]), .bytes = AllBytes(c)};
}

}  // namespace

constinit const OpDef op::lp_normalization = {
    .name = "lp_normalization",
    .summary =
        "x over its norm along one axis: p 2, root of the sum of squares; p 1, of magnitudes",
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = NormCost,
    .loop = LoopShape::kOther,
    .layout = LayoutRule::kFixed,
    .foreign = {.onnx = "LpNormalization"},
};

}  // namespace npukit
