#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;

double Apply(double x, const Attrs&) { return 1.0 / x; }

Status Reference(EvalContext& c) { return EvaluateUnary(c, InferSameFloat, Apply); }

}  // namespace

constinit const OpDef op::reciprocal = {
    .name = "reciprocal",
    .summary = "1 / x",
    .infer = InferSameFloat,
    .reference = Reference,
    .cost = CostPerElement,
    .loop = LoopShape::kUnary,
    .layout = LayoutRule::kAny,
    .foreign = {.onnx = "Reciprocal", .nnrt = "OH_NN_OPS_RECIPROCAL"},
};

}  // namespace npukit
