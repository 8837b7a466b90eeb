#include <cmath>

#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;

double Apply(double x, const Attrs&) { return std::nearbyint(x); }

Status Reference(EvalContext& c) { return EvaluateUnary(c, InferSameFloat, Apply); }

}  // namespace

constinit const OpDef op::round = {
    .name = "round",
    .summary = "the nearest whole number, halves to the even one",
    .infer = InferSameFloat,
    .reference = Reference,
    .cost = CostPerElement,
    .loop = LoopShape::kUnary,
    .layout = LayoutRule::kAny,
    .foreign = {.onnx = "Round", .tflite = "ROUND", .nnrt = "OH_NN_OPS_ROUND"},
};

}  // namespace npukit
