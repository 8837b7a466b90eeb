#include <cmath>

#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;

double Apply(double x, const Attrs& attrs) {
  const double alpha = attrs.Float("alpha", 1.67326319217681884765625F);
  const double gamma = attrs.Float("gamma", 1.05070102214813232421875F);
  return gamma * (x > 0 ? x : alpha * std::expm1(x));
}

Status Reference(EvalContext& c) { return EvaluateUnary(c, InferSameFloat, Apply); }

constexpr AttrDef kAttrs[] = {{"alpha", AttrKind::kFloat}, {"gamma", AttrKind::kFloat}};

}  // namespace

constinit const OpDef op::selu = {
    .name = "selu",
    .summary = "gamma * x where x > 0, gamma * alpha * (exp(x) - 1) elsewhere",
    .attrs = kAttrs,
    .infer = InferSameFloat,
    .reference = Reference,
    .cost = CostPerElement10,
    .loop = LoopShape::kUnary,
    .layout = LayoutRule::kAny,
    .foreign = {.onnx = "Selu"},
};

}  // namespace npukit
