#include <cmath>

#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;

double Apply(double x, const Attrs& attrs) {
  const double alpha = attrs.Float("alpha", 1);
  return x > 0 ? x : alpha * std::expm1(x / alpha);
}

Status Reference(EvalContext& c) { return EvaluateUnary(c, InferSameFloat, Apply); }

constexpr AttrDef kAttrs[] = {{"alpha", AttrKind::kFloat}};

}  // namespace

constinit const OpDef op::celu = {
    .name = "celu",
    .summary = "x where x > 0, alpha * (exp(x / alpha) - 1) elsewhere",
    .attrs = kAttrs,
    .infer = InferSameFloat,
    .reference = Reference,
    .cost = CostPerElement10,
    .loop = LoopShape::kUnary,
    .layout = LayoutRule::kAny,
    .foreign = {.onnx = "Celu"},
};

}  // namespace npukit
