#include "base/text.h"
#include "ops/kinds.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::DType;
using tensor::Type;

Status Infer(InferContext& c) {
  const std::int64_t dtype = c.attrs.Int("dtype", static_cast<std::int64_t>(DType::kF32));
  if (dtype < 0 || dtype > 255 ||
      tensor::DTypeName(static_cast<DType>(dtype)) == tensor::DTypeName(DType::kUndefined)) {
    return InvalidArgument(Cat("attribute dtype is ", dtype, ", expected an element type"));
  }
  c.outputs[0] = Type::Sequence(Type::Tensor(static_cast<DType>(dtype), std::nullopt));
  return OkStatus();
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(const Type t, TypeOfResult(c, Infer));
  return c.SetOutput(0, tensor::Value::Sequence(*t.element, {}));
}

constexpr AttrDef kAttrs[] = {{"dtype", AttrKind::kInt}};

}  // namespace

constinit const OpDef op::sequence_empty = {
    .name = "sequence_empty",
    .summary = "a sequence of no tensors of one element type",
    .min_inputs = 0,
    .max_inputs = 0,
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = CostShape,
};

}  // namespace npukit
