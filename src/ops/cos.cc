#include <cmath>

#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;

double Apply(double x, const Attrs&) { return std::cos(x); }

Status Reference(EvalContext& c) { return EvaluateUnary(c, InferSameFloat, Apply); }

}  // namespace

constinit const OpDef op::cos = {
    .name = "cos",
    .summary = "cosine of x in radians",
    .infer = InferSameFloat,
    .reference = Reference,
    .cost = CostPerElement10,
    .loop = LoopShape::kUnary,
    .layout = LayoutRule::kAny,
    .foreign = {.onnx = "Cos", .tflite = "COS", .nnrt = "OH_NN_OPS_COS"},
};

}  // namespace npukit
