#include "ops/strings.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Value;

Status Infer(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(WantMlNumber(c, 0));
  c.outputs[0] = c.inputs[0];
  return OkStatus();
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  const double threshold = c.attrs->Float("threshold");
  const Value& x = c.inputs[0];
  for (std::int64_t i = 0; i < x.count(); ++i)
    Store(y, i, tensor::ElementAsDouble(x, i) > threshold ? 1 : 0);
  return OkStatus();
}

constexpr AttrDef kAttrs[] = {{"threshold", AttrKind::kFloat}};

}  // namespace

constinit const OpDef op::binarizer = {
    .name = "binarizer",
    .summary = "1 where x is above a threshold, else 0",
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = CostPerElement,
    .foreign = {.onnx = "ai.onnx.ml:Binarizer"},
};

}  // namespace npukit
