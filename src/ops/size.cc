#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;

Status Infer(InferContext& c) {
  c.outputs[0] = tensor::Type::Tensor(tensor::DType::kI64, tensor::Dims{});
  return OkStatus();
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(tensor::Value y, MakeOutput(c, Infer));
  StoreBits(y, 0, static_cast<std::uint64_t>(c.inputs[0].count()));
  return OkStatus();
}

}  // namespace

constinit const OpDef op::size = {
    .name = "size",
    .summary = "how many elements x has, as int64",
    .infer = Infer,
    .reference = Reference,
    .cost = CostShape,
    .loop = LoopShape::kShape,
    .foreign = {.onnx = "Size"},
};

}  // namespace npukit
