#include "base/text.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;

Status Infer(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(WantBool(c, 0));
  return InferSameAny(c);
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(tensor::Value y, MakeOutput(c, Infer));
  for (std::int64_t i = 0; i < y.count(); ++i) StoreBits(y, i, LoadBits(c.inputs[0], i) == 0);
  return OkStatus();
}

}  // namespace

constinit const OpDef op::logical_not = {
    .name = "logical_not",
    .summary = "true where x is false",
    .infer = Infer,
    .reference = Reference,
    .cost = CostPerElement,
    .loop = LoopShape::kUnary,
    .layout = LayoutRule::kAny,
    .foreign = {.onnx = "Not", .tflite = "LOGICAL_NOT", .nnrt = "OH_NN_OPS_LOGICAL_NOT"},
};

}  // namespace npukit
