#include "base/text.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Dim;
using tensor::Value;

constexpr std::size_t kMaxRank = 1024;

Status Infer(InferContext& c) {
  const tensor::Type& x = c.inputs[0];
  c.outputs[0] = tensor::Type::Tensor(x.dtype, std::nullopt);
  if (!x.shape) return OkStatus();
  const Ints axes = c.attrs.IntList("axes");
  const std::size_t rank = x.shape->rank() + axes.size();
  if (rank > kMaxRank)
    return ResourceExhausted(Cat("the result would have rank ", rank, ", the limit is ", kMaxRank));
  NPUKIT_ASSIGN_OR_RETURN(const std::vector<bool> added, AxisMask(axes, rank));
  std::vector<Dim> dims;
  std::size_t next = 0;
  for (const bool is_added : added) dims.push_back(is_added ? Dim::Of(1) : x.shape->dims[next++]);
  c.outputs[0].shape = tensor::Shape(std::move(dims));
  return OkStatus();
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  CopyAll(y, c.inputs[0]);
  return OkStatus();
}

constexpr AttrDef kAttrs[] = {{"axes", AttrKind::kInts, true}};

}  // namespace

constinit const OpDef op::unsqueeze = {
    .name = "unsqueeze",
    .summary = "x with dimensions of size 1 at the named places of the result",
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = CostMove,
    .loop = LoopShape::kMove,
    .layout = LayoutRule::kFixed,
    .foreign = {.onnx = "Unsqueeze", .tflite = "EXPAND_DIMS", .nnrt = "OH_NN_OPS_UNSQUEEZE"},
};

}  // namespace npukit
