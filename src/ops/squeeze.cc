#include "base/text.h"
#include "ops/given.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Dim;
using tensor::Value;

Status Infer(InferContext& c) {
  const tensor::Type& x = c.inputs[0];
  c.outputs[0] = tensor::Type::Tensor(x.dtype, std::nullopt);
  const bool listed = IsGiven(c, 1);  // the axes are an input
  if (listed) {
    NPUKIT_RETURN_IF_ERROR(WantIndexList(c, 1, false));
    if (c.attrs.Find("axes") != nullptr)
      return InvalidArgument("axes is given as an attribute and as an input");
  }
  if (!x.shape || (listed && c.constants[1] == nullptr)) return OkStatus();
  // Without axes every dimension of size 1 goes.
  const bool all = !listed && c.attrs.Find("axes") == nullptr;
  NPUKIT_ASSIGN_OR_RETURN(
      const std::vector<bool> drop,
      AxisMask(listed ? tensor::ToInt64s(*c.constants[1]) : c.attrs.IntList("axes"),
               x.shape->rank()));
  std::vector<Dim> dims;
  for (std::size_t i = 0; i < drop.size(); ++i) {
    const Dim& d = x.shape->dims[i];
    if (all && !d.known()) return OkStatus();  // the rank depends on it
    if (drop[i] && d.known() && d.value != 1) {
      return InvalidArgument(
          Cat("dimension ", i, " of ", x.ToString(), " is ", d.value, ", expected 1"));
    }
    if (!(all ? d.value == 1 : drop[i])) dims.push_back(d);
  }
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

constinit const OpDef op::squeeze = {
    .name = "squeeze",
    .summary = "x without the named dimensions of size 1 (all of them, when none is named)",
    .max_inputs = 2,
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = CostMove,
    .loop = LoopShape::kMove,
    .layout = LayoutRule::kFixed,
    .foreign = {.onnx = "Squeeze", .tflite = "SQUEEZE", .nnrt = "OH_NN_OPS_SQUEEZE"},
};

}  // namespace npukit
