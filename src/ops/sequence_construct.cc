#include "base/text.h"
#include "ops/kinds.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Type;

Status Infer(InferContext& c) {
  Type element = c.inputs[0];
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    if (!c.inputs[i].is_tensor()) {
      return InvalidArgument(
          Cat("input ", i, " is ", c.inputs[i].ToString(), ", expected a tensor"));
    }
    auto joined = JoinTypes(element, c.inputs[i]);
    if (!joined.ok()) return joined.status().WithContext(Cat("input ", i));
    element = std::move(joined).value();
  }
  c.outputs[0] = Type::Sequence(std::move(element));
  return OkStatus();
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(const Type t, TypeOfResult(c, Infer));
  return c.SetOutput(0, tensor::Value::Sequence(*t.element, {c.inputs.begin(), c.inputs.end()}));
}

}  // namespace

constinit const OpDef op::sequence_construct = {
    .name = "sequence_construct",
    .summary = "a sequence of the inputs",
    .min_inputs = 1,
    .max_inputs = -1,
    .infer = Infer,
    .reference = Reference,
    .cost = CostShape,
    .foreign = {.onnx = "SequenceConstruct"},
    .any_kind = true,
};

}  // namespace npukit
