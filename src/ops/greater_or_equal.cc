#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;

bool Holds(Order order) { return order == Order::kGreater || order == Order::kEqual; }

Status Reference(EvalContext& c) { return EvaluateCompare(c, InferCompare, Holds); }

}  // namespace

constinit const OpDef op::greater_or_equal = {
    .name = "greater_or_equal",
    .summary = "whether a >= b, as bool, with numpy broadcasting",
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = InferCompare,
    .reference = Reference,
    .cost = CostPerElement,
    .loop = LoopShape::kBinary,
    .layout = LayoutRule::kBroadcast,
    .foreign = {.onnx = "GreaterOrEqual",
                .tflite = "GREATER_EQUAL",
                .nnrt = "OH_NN_OPS_GREATER_EQUAL"},
};

}  // namespace npukit
