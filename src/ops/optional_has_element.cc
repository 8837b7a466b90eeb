#include "ops/kinds.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;

Status Infer(InferContext& c) {
  c.outputs[0] = tensor::Type::Tensor(tensor::DType::kBool, tensor::Dims{});
  return OkStatus();
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(tensor::Value y, MakeOutput(c, Infer));
  const bool given = !c.inputs.empty() && c.inputs[0].present();
  const bool has = given && (!c.inputs[0].is_optional() || c.inputs[0].optional_item() != nullptr);
  StoreBits(y, 0, has ? 1 : 0);
  return OkStatus();
}

}  // namespace

constinit const OpDef op::optional_has_element = {
    .name = "optional_has_element",
    .summary = "whether an optional holds something; true for any other value, false for none",
    .min_inputs = 0,
    .max_inputs = 1,
    .infer = Infer,
    .reference = Reference,
    .cost = CostShape,
    .foreign = {.onnx = "OptionalHasElement"},
    .any_kind = true,
};

}  // namespace npukit
