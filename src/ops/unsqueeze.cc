#include "base/text.h"
#include "ops/given.h"
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
  const bool listed = IsGiven(c, 1);  // the axes are an input
  if (listed) NPUKIT_RETURN_IF_ERROR(WantIndexList(c, 1, false));
  if (listed == (c.attrs.Find("axes") != nullptr))
    return InvalidArgument("expected axes, as an attribute or as an input");
  if (!x.shape) return OkStatus();
  if (listed && c.constants[1] == nullptr) {  // its length says how much the rank grows
    const auto& list = c.inputs[1].shape;
    if (!list || !list->dims[0].known()) return OkStatus();
    if (list->dims[0].value > static_cast<std::int64_t>(kMaxRank - x.shape->rank()))
      return ResourceExhausted(Cat("axes has ", list->dims[0].value, " numbers"));
    const std::size_t rank = x.shape->rank() + static_cast<std::size_t>(list->dims[0].value);
    c.outputs[0].shape = tensor::Shape(std::vector<Dim>(rank));
    return OkStatus();
  }
  const Ints axes = listed ? tensor::ToInt64s(*c.constants[1]) : c.attrs.IntList("axes");
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

constexpr AttrDef kAttrs[] = {{"axes", AttrKind::kInts}};

}  // namespace

constinit const OpDef op::unsqueeze = {
    .name = "unsqueeze",
    .summary = "x with dimensions of size 1 at the named places of the result",
    .max_inputs = 2,
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = CostMove,
    .loop = LoopShape::kMove,
    .layout = LayoutRule::kFixed,
    .foreign = {.onnx = "Unsqueeze", .tflite = "EXPAND_DIMS", .nnrt = "OH_NN_OPS_UNSQUEEZE"},
};

}  // namespace npukit
