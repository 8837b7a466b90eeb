#include <cmath>

#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;

double Apply(double x, const Attrs&) { return std::erf(x); }

Status Reference(EvalContext& c) { return EvaluateUnary(c, InferSameFloat, Apply); }

}  // namespace

constinit const OpDef op::erf = {
    .name = "erf",
    .summary = "the error function",
    .infer = InferSameFloat,
    .reference = Reference,
    .cost = CostPerElement10,
    .loop = LoopShape::kUnary,
    .layout = LayoutRule::kAny,
    .foreign = {.onnx = "Erf", .nnrt = "OH_NN_OPS_ERF"},
};

}  // namespace npukit
