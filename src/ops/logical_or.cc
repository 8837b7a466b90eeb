#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;

bool ApplyInt(std::uint64_t a, std::uint64_t b, bool, std::uint64_t* y) {
  *y = a | b;
  return true;
}

Status Reference(EvalContext& c) { return EvaluateBinary(c, nullptr, ApplyInt, InferLogical); }

}  // namespace

constinit const OpDef op::logical_or = {
    .name = "logical_or",
    .summary = "true where one is, with numpy broadcasting",
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = InferLogical,
    .reference = Reference,
    .cost = CostPerElement,
    .loop = LoopShape::kBinary,
    .layout = LayoutRule::kBroadcast,
    .foreign = {.onnx = "Or", .tflite = "LOGICAL_OR", .nnrt = "OH_NN_OPS_LOGICAL_OR"},
};

}  // namespace npukit
