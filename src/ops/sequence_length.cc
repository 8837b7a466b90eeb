#include "ops/kinds.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::DType;

Status Infer(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(WantSequence(c, 0));
  c.outputs[0] = tensor::Type::Tensor(DType::kI64, tensor::Dims{});
  return OkStatus();
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(tensor::Value y, MakeOutput(c, Infer));
  StoreBits(y, 0, c.inputs[0].items().size());
  return OkStatus();
}

}  // namespace

constinit const OpDef op::sequence_length = {
    .name = "sequence_length",
    .summary = "how many items a sequence has",
    .infer = Infer,
    .reference = Reference,
    .cost = CostShape,
    .foreign = {.onnx = "SequenceLength"},
    .any_kind = true,
};

}  // namespace npukit
