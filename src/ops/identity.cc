#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;

Status Reference(EvalContext& c) {
  if (!c.inputs[0].is_tensor()) return c.SetOutput(0, c.inputs[0]);
  NPUKIT_ASSIGN_OR_RETURN(tensor::Value y, MakeOutput(c, InferSameAny));
  CopyAll(y, c.inputs[0]);
  return OkStatus();
}

}  // namespace

constinit const OpDef op::identity = {
    .name = "identity",
    .summary = "x, unchanged; any kind of value",
    .infer = InferSameAny,
    .reference = Reference,
    .cost = CostMove,
    .loop = LoopShape::kUnary,
    .layout = LayoutRule::kAny,
    .foreign = {.onnx = "Identity"},
    .any_kind = true,
};

}  // namespace npukit
