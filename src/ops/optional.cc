#include "base/text.h"
#include "ops/kinds.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Type;
using tensor::Value;

Status Infer(InferContext& c) {
  const bool given = !c.inputs.empty() && !(c.inputs[0] == Type{});
  if (given) {
    if (c.inputs[0].kind == Type::Kind::kOptional) {
      return InvalidArgument(
          Cat("input 0 is ", c.inputs[0].ToString(), ", expected a tensor or a sequence"));
    }
    c.outputs[0] = Type::Optional(c.inputs[0]);
    return OkStatus();
  }
  const std::string_view text = c.attrs.String("type");
  if (text.empty()) {
    if (c.inputs.empty())
      return InvalidArgument("neither an input nor the attribute type says what it may hold");
    c.outputs[0] = Type::Optional(Type{});
    return OkStatus();
  }
  auto element = ParseTypeText(text);
  if (!element.ok()) return element.status().WithContext("attribute type");
  // An input of a type not known may be there, with other sizes.
  c.outputs[0] = Type::Optional(c.inputs.empty() ? *element : OfAnyShape(*element));
  return OkStatus();
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(const Type t, TypeOfResult(c, Infer));
  const bool given = !c.inputs.empty() && c.inputs[0].present();
  return c.SetOutput(
      0, Value::Optional(*t.element, given ? std::make_shared<Value>(c.inputs[0]) : nullptr));
}

constexpr AttrDef kAttrs[] = {{"type", AttrKind::kString}};

}  // namespace

constinit const OpDef op::optional = {
    .name = "optional",
    .summary = "an optional holding x, or nothing; `type` says of what kind",
    .min_inputs = 0,
    .max_inputs = 1,
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = CostShape,
    .foreign = {.onnx = "Optional"},
    .any_kind = true,
};

}  // namespace npukit
