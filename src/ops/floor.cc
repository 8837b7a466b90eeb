#include <cmath>

#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;

double Apply(double x, const Attrs&) { return std::floor(x); }

Status Reference(EvalContext& c) { return EvaluateUnary(c, InferSameFloat, Apply); }

}  // namespace

constinit const OpDef op::floor = {
    .name = "floor",
    .summary = "the largest whole number not above x",
    .infer = InferSameFloat,
    .reference = Reference,
    .cost = CostPerElement,
    .loop = LoopShape::kUnary,
    .layout = LayoutRule::kAny,
    .foreign = {.onnx = "Floor", .tflite = "FLOOR", .nnrt = "OH_NN_OPS_FLOOR"},
};

}  // namespace npukit
