#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;

bool Holds(Order order) { return order == Order::kGreater; }

Status Reference(EvalContext& c) { return EvaluateCompare(c, InferCompare, Holds); }

}  // namespace

constinit const OpDef op::greater = {
    .name = "greater",
    .summary = "whether a > b, as bool, with numpy broadcasting",
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = InferCompare,
    .reference = Reference,
    .cost = CostPerElement,
    .loop = LoopShape::kBinary,
    .layout = LayoutRule::kBroadcast,
    .foreign = {.onnx = "Greater", .tflite = "GREATER", .nnrt = "OH_NN_OPS_GREATER"},
};

}  // namespace npukit
