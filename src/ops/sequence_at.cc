#include "ops/kinds.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;

Status Infer(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(WantSequence(c, 0));
  NPUKIT_RETURN_IF_ERROR(WantPosition(c, 1));
  c.outputs[0] = ElementType(c, 0);
  if (c.constants[0] == nullptr || c.constants[1] == nullptr) return OkStatus();
  NPUKIT_ASSIGN_OR_RETURN(const std::size_t at,
                          Position(*c.constants[1], c.constants[0]->items().size()));
  c.outputs[0] = c.constants[0]->items()[at].type();
  return OkStatus();
}

Status Reference(EvalContext& c) {
  NPUKIT_RETURN_IF_ERROR(TypeOfResult(c, Infer).status());
  NPUKIT_ASSIGN_OR_RETURN(const std::size_t at, Position(c.inputs[1], c.inputs[0].items().size()));
  return c.SetOutput(0, c.inputs[0].items()[at]);
}

}  // namespace

constinit const OpDef op::sequence_at = {
    .name = "sequence_at",
    .summary = "the item at a position, from the back when negative",
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = Infer,
    .reference = Reference,
    .cost = CostShape,
    .foreign = {.onnx = "SequenceAt"},
    .any_kind = true,
};

}  // namespace npukit
