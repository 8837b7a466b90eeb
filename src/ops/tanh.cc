#include <cmath>

#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;

double Apply(double x, const Attrs&) { return std::tanh(x); }

Status Reference(EvalContext& c) { return EvaluateUnary(c, InferSameFloat, Apply); }

}  // namespace

constinit const OpDef op::tanh = {
    .name = "tanh",
    .summary = "hyperbolic tangent",
    .infer = InferSameFloat,
    .reference = Reference,
    .cost = CostPerElement10,
    .loop = LoopShape::kUnary,
    .layout = LayoutRule::kAny,
    .foreign = {.onnx = "Tanh", .tflite = "TANH", .nnrt = "OH_NN_OPS_TANH"},
};

}  // namespace npukit
