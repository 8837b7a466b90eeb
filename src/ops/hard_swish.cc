#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;

double Apply(double x, const Attrs&) {
  const double gate = x / 6.0 + 0.5;
  return x * (gate < 0 ? 0 : gate > 1 ? 1 : gate);  // NaN stays NaN
}

Status Reference(EvalContext& c) { return EvaluateUnary(c, InferSameFloat, Apply); }

}  // namespace

constinit const OpDef op::hard_swish = {
    .name = "hard_swish",
    .summary = "x * min(max(x / 6 + 0.5, 0), 1)",
    .infer = InferSameFloat,
    .reference = Reference,
    .cost = CostPerElement,
    .loop = LoopShape::kUnary,
    .layout = LayoutRule::kAny,
    .foreign = {.onnx = "HardSwish", .tflite = "HARD_SWISH", .nnrt = "OH_NN_OPS_HSWISH"},
};

}  // namespace npukit
