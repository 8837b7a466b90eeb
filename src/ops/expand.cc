#include <algorithm>

#include "base/text.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Value;

constexpr std::int64_t kMaxRank = 1024;

Status Infer(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(WantIndexList(c, 1, false));
  c.outputs[0] = tensor::Type::Tensor(c.inputs[0].dtype, std::nullopt);
  if (!c.inputs[0].shape) return OkStatus();
  if (c.constants[1] == nullptr) {  // its length is the least rank
    const auto& list = c.inputs[1].shape;
    if (list && list->dims[0].known() && list->dims[0].value <= kMaxRank) {
      const std::size_t rank =
          std::max(c.inputs[0].shape->rank(), static_cast<std::size_t>(list->dims[0].value));
      c.outputs[0].shape = tensor::Shape(std::vector<tensor::Dim>(rank));
    }
    return OkStatus();
  }
  if (c.constants[1]->count() > kMaxRank)
    return ResourceExhausted(Cat("the shape has ", c.constants[1]->count(), " sizes"));
  const Ints wanted = tensor::ToInt64s(*c.constants[1]);
  tensor::Shape shape;
  for (const std::int64_t n : wanted) {
    if (n < 0)
      return InvalidArgument(Cat("shape [", JoinInts(wanted, ", "), "] has a negative size"));
    shape.dims.push_back(tensor::Dim::Of(n));
  }
  NPUKIT_ASSIGN_OR_RETURN(c.outputs[0].shape, BroadcastShapes(c.inputs[0].shape, shape));
  return OkStatus();
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  const Value& x = c.inputs[0];
  ForEachIndex<1>(y.dims(), {BroadcastStrides(x.dims(), y.dims())},
                  [&](std::int64_t i, const auto* at) { CopyElement(y, i, x, at[0]); });
  return OkStatus();
}

}  // namespace

constinit const OpDef op::expand = {
    .name = "expand",
    .summary = "x repeated so that it has the shape that it and the list broadcast to",
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = Infer,
    .reference = Reference,
    .cost = CostMove,
    .loop = LoopShape::kMove,
    .layout = LayoutRule::kFixed,
    .foreign = {.onnx = "Expand", .tflite = "BROADCAST_TO", .nnrt = "OH_NN_OPS_BROADCAST_TO"},
};

}  // namespace npukit
