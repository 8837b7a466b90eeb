#include "base/text.h"
#include "ops/kinds.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Type;
using tensor::Value;

Status Infer(InferContext& c) {
  const Type& t = c.inputs[0];
  c.outputs[0] = t;
  if (t.kind != Type::Kind::kOptional) return OkStatus();
  c.outputs[0] = t.element ? *t.element : Type{};
  if (c.constants[0] != nullptr && c.constants[0]->optional_item() != nullptr)
    c.outputs[0] = c.constants[0]->optional_item()->type();
  return OkStatus();
}

Status Reference(EvalContext& c) {
  const Value& x = c.inputs[0];
  if (!x.is_optional()) return c.SetOutput(0, x);
  if (x.optional_item() == nullptr)
    return InvalidArgument("the optional is empty: test it with optional_has_element first");
  return c.SetOutput(0, *x.optional_item());
}

}  // namespace

constinit const OpDef op::optional_get_element = {
    .name = "optional_get_element",
    .summary = "what an optional holds; anything else is handed on",
    .infer = Infer,
    .reference = Reference,
    .cost = CostShape,
    .foreign = {.onnx = "OptionalGetElement"},
    .any_kind = true,
};

}  // namespace npukit
