#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;

double Apply(double x, const Attrs& attrs) {
  return x < 0 ? static_cast<double>(attrs.Float("alpha", 0.01f)) * x : x;  // NaN stays NaN
}

Status Reference(EvalContext& c) { return EvaluateUnary(c, InferSameFloat, Apply); }

constexpr AttrDef kAttrs[] = {{"alpha", AttrKind::kFloat}};

}  // namespace

constinit const OpDef op::leaky_relu = {
    .name = "leaky_relu",
    .summary = "x where x >= 0, alpha * x elsewhere",
    .attrs = kAttrs,
    .infer = InferSameFloat,
    .reference = Reference,
    .cost = CostPerElement,
    .loop = LoopShape::kUnary,
    .layout = LayoutRule::kAny,
    .foreign = {.onnx = "LeakyRelu", .tflite = "LEAKY_RELU", .nnrt = "OH_NN_OPS_LEAKY_RELU"},
};

}  // namespace npukit
