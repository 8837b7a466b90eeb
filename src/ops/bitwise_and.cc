#include "ops/elementwise.h"

namespace npukit {
namespace {

using namespace ops;

bool ApplyInt(std::uint64_t a, std::uint64_t b, bool, std::uint64_t* y) {
  *y = a & b;
  return true;
}

Status Reference(EvalContext& c) { return EvaluateBinary(c, nullptr, ApplyInt, InferIntegers); }

}  // namespace

constinit const OpDef op::bitwise_and = {
    .name = "bitwise_and",
    .summary = "bits set in both, with numpy broadcasting",
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = InferIntegers,
    .reference = Reference,
    .cost = CostPerElement,
    .loop = LoopShape::kBinary,
    .layout = LayoutRule::kBroadcast,
    .foreign = {.onnx = "BitwiseAnd"},
};

}  // namespace npukit
