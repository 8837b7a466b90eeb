#include "base/text.h"
#include "ops/kinds.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Value;

Status Infer(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(WantSequence(c, 0));
  if (!c.inputs[1].is_tensor()) {
    return InvalidArgument(Cat("input 1 is ", c.inputs[1].ToString(), ", expected a tensor"));
  }
  NPUKIT_RETURN_IF_ERROR(WantPosition(c, 2));
  auto element = JoinTypes(ElementType(c, 0), c.inputs[1]);
  if (!element.ok()) return element.status().WithContext("the items and input 1");
  c.outputs[0] = tensor::Type::Sequence(std::move(element).value());
  return OkStatus();
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(const tensor::Type t, TypeOfResult(c, Infer));
  std::vector<Value> items = c.inputs[0].items();
  std::size_t at = items.size();
  if (c.inputs.size() > 2 && c.inputs[2].present()) {
    // Counted from the back over the items, not the places: -1 is before the last one.
    const std::int64_t given = tensor::ElementAsInt64(c.inputs[2], 0);
    if (given < 0) {
      NPUKIT_ASSIGN_OR_RETURN(at, Position(c.inputs[2], items.size()));
    } else {
      NPUKIT_ASSIGN_OR_RETURN(at, Position(c.inputs[2], items.size() + 1));
    }
  }
  items.insert(items.begin() + static_cast<std::ptrdiff_t>(at), c.inputs[1]);
  return c.SetOutput(0, Value::Sequence(*t.element, std::move(items)));
}

}  // namespace

constinit const OpDef op::sequence_insert = {
    .name = "sequence_insert",
    .summary = "the sequence with a tensor before a position (at the end)",
    .min_inputs = 2,
    .max_inputs = 3,
    .infer = Infer,
    .reference = Reference,
    .cost = CostShape,
    .foreign = {.onnx = "SequenceInsert"},
    .any_kind = true,
};

}  // namespace npukit
