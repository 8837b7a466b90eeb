#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;

bool Holds(Order order) { return order == Order::kLess || order == Order::kEqual; }

Status Reference(EvalContext& c) { return EvaluateCompare(c, InferCompare, Holds); }

}  // namespace

constinit const OpDef op::less_or_equal = {
    .name = "less_or_equal",
    .summary = "whether a <= b, as bool, with numpy broadcasting",
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = InferCompare,
    .reference = Reference,
    .cost = CostPerElement,
    .loop = LoopShape::kBinary,
    .layout = LayoutRule::kBroadcast,
    .foreign = {.onnx = "LessOrEqual", .tflite = "LESS_EQUAL", .nnrt = "OH_NN_OPS_LESS_EQUAL"},
};

}  // namespace npukit
