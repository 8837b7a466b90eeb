#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;

bool Holds(Order order) { return order == Order::kLess; }

Status Reference(EvalContext& c) { return EvaluateCompare(c, InferCompare, Holds); }

}  // namespace

constinit const OpDef op::less = {
    .name = "less",
    .summary = "whether a < b, as bool, with numpy broadcasting",
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = InferCompare,
    .reference = Reference,
    .cost = CostPerElement,
    .loop = LoopShape::kBinary,
    .layout = LayoutRule::kBroadcast,
    .foreign = {.onnx = "Less", .tflite = "LESS", .nnrt = "OH_NN_OPS_LESS"},
};

}  // namespace npukit
