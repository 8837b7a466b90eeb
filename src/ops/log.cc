#include <cmath>

#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;

double Apply(double x, const Attrs&) { return std::log(x); }

Status Reference(EvalContext& c) { return EvaluateUnary(c, InferSameFloat, Apply); }

}  // namespace

constinit const OpDef op::log = {
    .name = "log",
    .summary = "natural logarithm",
    .infer = InferSameFloat,
    .reference = Reference,
    .cost = CostPerElement10,
    .loop = LoopShape::kUnary,
    .layout = LayoutRule::kAny,
    .foreign = {.onnx = "Log", .tflite = "LOG", .nnrt = "OH_NN_OPS_LOG"},
};

}  // namespace npukit
