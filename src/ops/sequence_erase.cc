#include "base/text.h"
#include "ops/kinds.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Value;

Status Infer(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(WantSequence(c, 0));
  NPUKIT_RETURN_IF_ERROR(WantPosition(c, 1));
  c.outputs[0] = tensor::Type::Sequence(ElementType(c, 0));
  return OkStatus();
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(const tensor::Type t, TypeOfResult(c, Infer));
  std::vector<Value> items = c.inputs[0].items();
  if (items.empty()) return InvalidArgument("the sequence is empty: there is nothing to erase");
  std::size_t at = items.size() - 1;
  if (c.inputs.size() > 1 && c.inputs[1].present()) {
    NPUKIT_ASSIGN_OR_RETURN(at, Position(c.inputs[1], items.size()));
  }
  items.erase(items.begin() + static_cast<std::ptrdiff_t>(at));
  return c.SetOutput(0, Value::Sequence(*t.element, std::move(items)));
}

}  // namespace

constinit const OpDef op::sequence_erase = {
    .name = "sequence_erase",
    .summary = "the sequence without the item at a position (the last)",
    .min_inputs = 1,
    .max_inputs = 2,
    .infer = Infer,
    .reference = Reference,
    .cost = CostShape,
    .foreign = {.onnx = "SequenceErase"},
    .any_kind = true,
};

}  // namespace npukit
