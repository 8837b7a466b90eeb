#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;

bool Holds(Order order) { return order == Order::kEqual; }

Status Reference(EvalContext& c) { return EvaluateCompare(c, InferEqual, Holds); }

}  // namespace

constinit const OpDef op::equal = {
    .name = "equal",
    .summary = "whether a is b, as bool, with numpy broadcasting",
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = InferEqual,
    .reference = Reference,
    .cost = CostPerElement,
    .loop = LoopShape::kBinary,
    .layout = LayoutRule::kBroadcast,
    .foreign = {.onnx = "Equal", .tflite = "EQUAL", .nnrt = "OH_NN_OPS_EQUAL"},
};

}  // namespace npukit
