#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;

bool ApplyInt(std::uint64_t a, std::uint64_t b, bool, std::uint64_t* y) {
  *y = a ^ b;
  return true;
}

Status Reference(EvalContext& c) { return EvaluateBinary(c, nullptr, ApplyInt, InferLogical); }

}  // namespace

constinit const OpDef op::logical_xor = {
    .name = "logical_xor",
    .summary = "true where exactly one is, with numpy broadcasting",
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = InferLogical,
    .reference = Reference,
    .cost = CostPerElement,
    .loop = LoopShape::kBinary,
    .layout = LayoutRule::kBroadcast,
    .foreign = {.onnx = "Xor"},
};

}  // namespace npukit
