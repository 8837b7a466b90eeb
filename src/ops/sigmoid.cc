#include <cmath>

#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;

double Apply(double x, const Attrs&) { return 1.0 / (1.0 + std::exp(-x)); }

Status Reference(EvalContext& c) { return EvaluateUnary(c, InferSameFloat, Apply); }

}  // namespace

constinit const OpDef op::sigmoid = {
    .name = "sigmoid",
    .summary = "1 / (1 + exp(-x))",
    .infer = InferSameFloat,
    .reference = Reference,
    .cost = CostPerElement10,
    .loop = LoopShape::kUnary,
    .layout = LayoutRule::kAny,
    .foreign = {.onnx = "Sigmoid", .tflite = "LOGISTIC", .nnrt = "OH_NN_OPS_SIGMOID"},
};

}  // namespace npukit
