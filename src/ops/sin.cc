#include <cmath>

#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;

double Apply(double x, const Attrs&) { return std::sin(x); }

Status Reference(EvalContext& c) { return EvaluateUnary(c, InferSameFloat, Apply); }

}  // namespace

constinit const OpDef op::sin = {
    .name = "sin",
    .summary = "sine of x in radians",
    .infer = InferSameFloat,
    .reference = Reference,
    .cost = CostPerElement10,
    .loop = LoopShape::kUnary,
    .layout = LayoutRule::kAny,
    .foreign = {.onnx = "Sin", .tflite = "SIN", .nnrt = "OH_NN_OPS_SIN"},
};

}  // namespace npukit
