#include "ops/elementwise.h"

namespace npukit {
namespace {

using namespace ops;

Status Infer(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(WantInteger(c, 0));
  return InferSameAny(c);
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(tensor::Value y, MakeOutput(c, Infer));
  for (std::int64_t i = 0; i < y.count(); ++i) StoreBits(y, i, ~LoadBits(c.inputs[0], i));
  return OkStatus();
}

}  // namespace

constinit const OpDef op::bitwise_not = {
    .name = "bitwise_not",
    .summary = "every bit the other way",
    .infer = Infer,
    .reference = Reference,
    .cost = CostPerElement,
    .loop = LoopShape::kUnary,
    .layout = LayoutRule::kAny,
    .foreign = {.onnx = "BitwiseNot"},
};

}  // namespace npukit
