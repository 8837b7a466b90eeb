#include "base/text.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::DType;
using tensor::Value;

Status Infer(InferContext& c) {
  const DType t = c.inputs[1].dtype;
  if (t != DType::kUndefined && t != DType::kI32 && t != DType::kI64) {
    return InvalidArgument(Cat("input 1 is ", tensor::DTypeName(t), ", expected int32 or int64"));
  }
  c.outputs[0] = tensor::Type::Tensor(c.inputs[0].dtype, std::nullopt);
  if (!c.inputs[0].shape) return OkStatus();
  const std::vector<tensor::Dim>& x = c.inputs[0].shape->dims;
  NPUKIT_ASSIGN_OR_RETURN(const std::size_t axis, NormalAxis(c.attrs.Int("axis", 0), x.size()));
  if (!c.inputs[1].shape) return OkStatus();
  const std::vector<tensor::Dim>& indices = c.inputs[1].shape->dims;
  std::vector<tensor::Dim> dims(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(axis));
  dims.insert(dims.end(), indices.begin(), indices.end());
  dims.insert(dims.end(), x.begin() + static_cast<std::ptrdiff_t>(axis) + 1, x.end());
  c.outputs[0].shape = tensor::Shape(std::move(dims));
  return OkStatus();
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  const Value& x = c.inputs[0];
  const Value& indices = c.inputs[1];
  NPUKIT_ASSIGN_OR_RETURN(const std::size_t axis,
                          NormalAxis(c.attrs->Int("axis", 0), x.dims().size()));
  const std::int64_t n = x.dims()[axis];
  const std::int64_t row = tensor::DenseStrides(x.dims())[axis];
  const std::int64_t picks = indices.count();
  for (std::int64_t k = 0; k < picks; ++k) {
    const std::int64_t given = tensor::ElementAsInt64(indices, k);
    if (given < -n || given >= n) {
      return InvalidArgument(Cat("index ", given, " is outside axis ", axis, " of ", n));
    }
  }
  if (y.count() == 0) return OkStatus();
  const std::int64_t outer = x.count() / (n * row);
  for (std::int64_t o = 0; o < outer; ++o) {
    for (std::int64_t k = 0; k < picks; ++k) {
      const std::int64_t given = tensor::ElementAsInt64(indices, k);
      const std::int64_t from = (o * n + (given < 0 ? given + n : given)) * row;
      for (std::int64_t i = 0; i < row; ++i) CopyElement(y, (o * picks + k) * row + i, x, from + i);
    }
  }
  return OkStatus();
}

OpCost GatherCost(const CostContext& c) {  // reads what it picks, not all of x
  return {.bytes = 2 * BytesOf(c.outputs[0]) + BytesOf(c.inputs[1])};
}

constexpr AttrDef kAttrs[] = {{"axis", AttrKind::kInt}};

}  // namespace

constinit const OpDef op::gather = {
    .name = "gather",
    .summary =
        "the slices of x along an axis that the indices name; negative ones count from the end",
    .min_inputs = 2,
    .max_inputs = 2,
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = GatherCost,
    .loop = LoopShape::kMove,
    .layout = LayoutRule::kFixed,
    .foreign = {.onnx = "Gather", .tflite = "GATHER", .nnrt = "OH_NN_OPS_GATHER"},
};

}  // namespace npukit
