#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;

double Apply(double x, const Attrs& attrs) {
  return x != x || x > attrs.Float("alpha", 1) ? x : 0;  // NaN stays NaN
}

Status Reference(EvalContext& c) { return EvaluateUnary(c, InferSameFloat, Apply); }

constexpr AttrDef kAttrs[] = {{"alpha", AttrKind::kFloat}};

}  // namespace

constinit const OpDef op::thresholded_relu = {
    .name = "thresholded_relu",
    .summary = "x where x > alpha, 0 elsewhere",
    .attrs = kAttrs,
    .infer = InferSameFloat,
    .reference = Reference,
    .cost = CostPerElement,
    .loop = LoopShape::kUnary,
    .layout = LayoutRule::kAny,
    .foreign = {.onnx = "ThresholdedRelu"},
};

}  // namespace npukit
