#include "base/text.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Dim;
using tensor::Value;

Status Infer(InferContext& c) {
  const tensor::Type& x = c.inputs[0];
  c.outputs[0] = tensor::Type::Tensor(x.dtype, std::nullopt);
  if (!x.shape) return OkStatus();
  const bool all = c.attrs.Find("axes") == nullptr;  // then every dimension of size 1 goes
  NPUKIT_ASSIGN_OR_RETURN(const std::vector<bool> drop,
                          AxisMask(c.attrs.IntList("axes"), x.shape->rank()));
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
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = CostMove,
    .loop = LoopShape::kMove,
    .layout = LayoutRule::kFixed,
    .foreign = {.onnx = "Squeeze", .tflite = "SQUEEZE", .nnrt = "OH_NN_OPS_SQUEEZE"},
};

}  // namespace npukit
