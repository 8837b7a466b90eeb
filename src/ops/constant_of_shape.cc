#include "base/text.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Dim;
using tensor::DType;
using tensor::Value;

constexpr std::int64_t kMaxRank = 1024;

Status Infer(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(WantIndexList(c, 0, false));
  const Value* value = c.attrs.Tensor("value");
  if (value != nullptr && (!value->is_tensor() || value->count() != 1)) {
    return InvalidArgument(
        Cat("attribute value is ", value->type().ToString(), ", expected one element"));
  }
  c.outputs[0] = tensor::Type::Tensor(value ? value->dtype() : DType::kF32, std::nullopt);
  const auto& list = c.inputs[0].shape;
  if (c.constants[0] == nullptr) {  // the length of the list is the rank
    if (list && list->dims[0].known() && list->dims[0].value <= kMaxRank) {
      c.outputs[0].shape =
          tensor::Shape(std::vector<Dim>(static_cast<std::size_t>(list->dims[0].value), Dim{}));
    }
    return OkStatus();
  }
  if (c.constants[0]->count() > kMaxRank)
    return ResourceExhausted(Cat("the shape has ", c.constants[0]->count(), " sizes"));
  tensor::Shape shape;
  for (const std::int64_t n : tensor::ToInt64s(*c.constants[0])) {
    if (n < 0) return InvalidArgument(Cat("the shape has a negative size, ", n));
    shape.dims.push_back(Dim::Of(n));
  }
  c.outputs[0].shape = std::move(shape);
  return OkStatus();
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  const Value* given = c.attrs->Tensor("value");
  const Value value = given != nullptr ? *given : Value::Scalar(0.0f);
  for (std::int64_t i = 0; i < y.count(); ++i) CopyElement(y, i, value, 0);
  return OkStatus();
}

constexpr AttrDef kAttrs[] = {{"value", AttrKind::kTensor}};

}  // namespace

constinit const OpDef op::constant_of_shape = {
    .name = "constant_of_shape",
    .summary = "a tensor of the shape that the list says, every element the value (0 of fp32)",
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = CostMove,
    .loop = LoopShape::kMove,
    .layout = LayoutRule::kFixed,
    .foreign = {.onnx = "ConstantOfShape", .tflite = "FILL", .nnrt = "OH_NN_OPS_CONSTANT_OF_SHAPE"},
};

}  // namespace npukit
