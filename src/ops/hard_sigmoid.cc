#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;

double Apply(double x, const Attrs& attrs) {
  const double y = static_cast<double>(attrs.Float("alpha", 0.2f)) * x +
                   static_cast<double>(attrs.Float("beta", 0.5f));
  return y < 0 ? 0 : y > 1 ? 1 : y;  // NaN stays NaN
}

Status Reference(EvalContext& c) { return EvaluateUnary(c, InferSameFloat, Apply); }

constexpr AttrDef kAttrs[] = {{"alpha", AttrKind::kFloat}, {"beta", AttrKind::kFloat}};

}  // namespace

constinit const OpDef op::hard_sigmoid = {
    .name = "hard_sigmoid",
    .summary = "min(max(alpha * x + beta, 0), 1)",
    .attrs = kAttrs,
    .infer = InferSameFloat,
    .reference = Reference,
    .cost = CostPerElement,
    .loop = LoopShape::kUnary,
    .layout = LayoutRule::kAny,
    .foreign = {.onnx = "HardSigmoid", .nnrt = "OH_NN_OPS_HARD_SIGMOID"},
};

}  // namespace npukit
