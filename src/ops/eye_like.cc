#include <limits>

#include "base/text.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::DType;
using tensor::Value;

Status Infer(InferContext& c) {
  const tensor::Type& x = c.inputs[0];
  if (x.shape && x.shape->rank() != 2)
    return InvalidArgument(Cat("input 0 is ", x.ToString(), ", expected rank 2"));
  DType t = x.dtype;
  if (c.attrs.Find("dtype") != nullptr) {
    const std::int64_t given = c.attrs.Int("dtype");
    if (given <= 0 || given >= tensor::kDTypeCount)
      return InvalidArgument(Cat("attribute dtype is ", given, ", which is no type"));
    t = static_cast<DType>(given);
  }
  if (t != DType::kUndefined && t != DType::kBool && !IsNumber(t)) {
    return InvalidArgument(Cat("no ones of ", tensor::DTypeName(t), ": a number type or bool"));
  }
  c.outputs[0] = tensor::Type::Tensor(t, x.shape ? x.shape : tensor::Shape({{}, {}}));
  return OkStatus();
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  const std::int64_t columns = y.dims()[1];
  const std::int64_t k = c.attrs->Int("k", 0);
  for (std::int64_t i = 0; i < y.count(); ++i)
    tensor::StoreDouble(y, i, i % columns - i / columns == k ? 1 : 0);
  return OkStatus();
}

constexpr AttrDef kAttrs[] = {{"dtype", AttrKind::kInt}, {"k", AttrKind::kInt}};

}  // namespace

constinit const OpDef op::eye_like = {
    .name = "eye_like",
    .summary = "ones on the k-th diagonal of a matrix of the shape of x, zeros elsewhere",
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = CostMove,
    .loop = LoopShape::kOther,
};

}  // namespace npukit
