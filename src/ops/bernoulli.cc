#include "base/text.h"
#include "ops/random.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::DType;
using tensor::Value;

Status Infer(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(WantFloat(c, 0));
  const bool given = c.attrs.Find("dtype") != nullptr;
  const DType t = given ? TypeAttr(c.attrs) : c.inputs[0].dtype;
  if (given && !IsNumber(t) && t != DType::kBool) {
    return InvalidArgument(
        Cat("attribute dtype is ", tensor::DTypeName(t), ", expected a number type or bool"));
  }
  c.outputs[0] = tensor::Type::Tensor(t, c.inputs[0].shape);
  return OkStatus();
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  const std::int64_t seed = c.attrs->Int("seed", 0);
  for (std::int64_t i = 0; i < y.count(); ++i) {
    const bool drawn = UniformAt(seed, static_cast<std::uint64_t>(i)) < Load(c.inputs[0], i);
    Store(y, i, drawn ? 1 : 0);
  }
  return OkStatus();
}

constexpr AttrDef kAttrs[] = {{"dtype", AttrKind::kInt}, {"seed", AttrKind::kInt}};

}  // namespace

constinit const OpDef op::bernoulli = {
    .name = "bernoulli",
    .summary = "1 with the probability x, else 0; the same for the same seed",
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = CostPerElement10,
    .loop = LoopShape::kOther,
    .layout = LayoutRule::kFixed,
};

}  // namespace npukit
