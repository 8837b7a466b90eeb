#include "base/text.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Value;

Status Infer(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(WantBool(c, 0));
  NPUKIT_RETURN_IF_ERROR(WantSameDType(c, 1, 2));
  NPUKIT_ASSIGN_OR_RETURN(auto shape, BroadcastShapes(c.inputs[1].shape, c.inputs[2].shape));
  NPUKIT_ASSIGN_OR_RETURN(shape, BroadcastShapes(c.inputs[0].shape, shape));
  const tensor::DType t =
      c.inputs[1].dtype != tensor::DType::kUndefined ? c.inputs[1].dtype : c.inputs[2].dtype;
  c.outputs[0] = tensor::Type::Tensor(t, std::move(shape));
  return OkStatus();
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  std::array<tensor::Dims, 3> strides;
  for (std::size_t k = 0; k < 3; ++k) strides[k] = BroadcastStrides(c.inputs[k].dims(), y.dims());
  ForEachIndex<3>(y.dims(), strides, [&](std::int64_t i, const auto* at) {
    const std::size_t chosen = LoadBits(c.inputs[0], at[0]) != 0 ? 1 : 2;
    CopyElement(y, i, c.inputs[chosen], at[chosen]);
  });
  return OkStatus();
}

}  // namespace

constinit const OpDef op::where = {
    .name = "where",
    .summary = "a where the condition holds, b elsewhere, with numpy broadcasting",
    .min_inputs = 3,
    .max_inputs = 3,
    .infer = Infer,
    .reference = Reference,
    .cost = CostPerElement,
    .loop = LoopShape::kOther,
    .layout = LayoutRule::kBroadcast,
    .foreign = {.onnx = "Where", .tflite = "SELECT_V2", .nnrt = "OH_NN_OPS_SELECT"},
};

}  // namespace npukit
