#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;

bool ApplyInt(std::uint64_t a, std::uint64_t b, bool, std::uint64_t* y) {
  *y = a & b;
  return true;
}

Status Reference(EvalContext& c) { return EvaluateBinary(c, nullptr, ApplyInt, InferLogical); }

}  // namespace

constinit const OpDef op::logical_and = {
    .name = "logical_and",
    .summary = "true where both are, with numpy broadcasting",
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = InferLogical,
    .reference = Reference,
    .cost = CostPerElement,
    .loop = LoopShape::kBinary,
    .layout = LayoutRule::kBroadcast,
    .foreign = {.onnx = "And", .tflite = "LOGICAL_AND", .nnrt = "OH_NN_OPS_LOGICAL_AND"},
};

}  // namespace npukit
