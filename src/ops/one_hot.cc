#include "base/text.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Dim;
using tensor::Value;

constexpr std::size_t kDepth = 1, kValues = 2;

Status Infer(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(WantNumber(c, 0));
  NPUKIT_RETURN_IF_ERROR(WantNumber(c, kDepth));
  const tensor::Type& depth = c.inputs[kDepth];
  if (depth.is_static() && tensor::ElementCount(depth.dims()) != 1)
    return InvalidArgument(Cat("input 1 is ", depth.ToString(), ", expected one number"));
  const tensor::Type& values = c.inputs[kValues];
  if (values.shape && (values.shape->rank() != 1 ||
                       (values.shape->dims[0].known() && values.shape->dims[0].value != 2))) {
    return InvalidArgument(Cat("input 2 is ", values.ToString(), ", expected off and on"));
  }
  c.outputs[0] = tensor::Type::Tensor(values.dtype, std::nullopt);
  Dim n;
  if (c.constants[kDepth] != nullptr && c.constants[kDepth]->count() == 1) {
    const std::int64_t given = tensor::ElementAsInt64(*c.constants[kDepth], 0);
    if (given < 0) return InvalidArgument(Cat("depth is ", given));
    n = Dim::Of(given);
  }
  if (!c.inputs[0].shape) return OkStatus();
  std::vector<Dim> dims = c.inputs[0].shape->dims;
  NPUKIT_ASSIGN_OR_RETURN(const std::size_t axis,
                          NormalAxis(c.attrs.Int("axis", -1), dims.size() + 1));
  dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), n);
  c.outputs[0].shape = tensor::Shape(std::move(dims));
  return OkStatus();
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  const Value& indices = c.inputs[0];
  NPUKIT_ASSIGN_OR_RETURN(const std::size_t axis,
                          NormalAxis(c.attrs->Int("axis", -1), y.dims().size()));
  const std::int64_t n = y.dims()[axis];
  tensor::Dims strides = tensor::DenseStrides(indices.dims());
  strides.insert(strides.begin() + static_cast<std::ptrdiff_t>(axis), 0);
  const std::int64_t step = tensor::DenseStrides(y.dims())[axis];
  ForEachIndex<1>(y.dims(), {strides}, [&](std::int64_t i, const auto* at) {
    const std::int64_t given = tensor::ElementAsInt64(indices, at[0]);
    // An index outside names no place: everything is off.
    const std::int64_t on = given < 0 && given >= -n ? given + n : given;
    CopyElement(y, i, c.inputs[kValues], i / step % n == on ? 1 : 0);
  });
  return OkStatus();
}

constexpr AttrDef kAttrs[] = {{"axis", AttrKind::kInt}};

}  // namespace

constinit const OpDef op::one_hot = {
    .name = "one_hot",
    .summary =
        "a new axis of `depth` places that is on at the index and off elsewhere; values are off, "
        "on",
    .min_inputs = 3,
    .max_inputs = 3,
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = CostMove,
    .loop = LoopShape::kOther,
    .foreign = {.onnx = "OneHot", .tflite = "ONE_HOT", .nnrt = "OH_NN_OPS_ONE_HOT"},
};

}  // namespace npukit
