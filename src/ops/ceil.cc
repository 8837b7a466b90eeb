#include <cmath>

#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;

double Apply(double x, const Attrs&) { return std::ceil(x); }

Status Reference(EvalContext& c) { return EvaluateUnary(c, InferSameFloat, Apply); }

}  // namespace

constinit const OpDef op::ceil = {
    .name = "ceil",
    .summary = "the smallest whole number not below x",
    .infer = InferSameFloat,
    .reference = Reference,
    .cost = CostPerElement,
    .loop = LoopShape::kUnary,
    .layout = LayoutRule::kAny,
    .foreign = {.onnx = "Ceil", .tflite = "CEIL", .nnrt = "OH_NN_OPS_CEIL"},
};

}  // namespace npukit
