#include "base/text.h"
#include "ops/indexing.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Value;

Status Infer(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(WantIndices(c, 1, true));
  const tensor::Type& x = c.inputs[0];
  const tensor::Type& indices = c.inputs[1];
  c.outputs[0] = tensor::Type::Tensor(x.dtype, indices.shape);
  if (!x.shape) return OkStatus();
  NPUKIT_ASSIGN_OR_RETURN(const std::size_t axis,
                          NormalAxis(c.attrs.Int("axis", 0), x.shape->rank()));
  if (!indices.shape) return OkStatus();
  if (indices.shape->rank() != x.shape->rank()) {
    return InvalidArgument(Cat("input 1 is ", indices.ToString(), ", expected rank ",
                               x.shape->rank(), " as ", x.ToString()));
  }
  for (std::size_t d = 0; d < x.shape->rank(); ++d) {
    const tensor::Dim& a = x.shape->dims[d];
    const tensor::Dim& b = indices.shape->dims[d];
    if (d != axis && a.known() && b.known() && b.value > a.value) {
      return InvalidArgument(Cat("dimension ", d, " of the indices is ", b.value,
                                 ", more than the ", a.value, " of x"));
    }
  }
  return OkStatus();
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  const Value& x = c.inputs[0];
  const Value& indices = c.inputs[1];
  NPUKIT_ASSIGN_OR_RETURN(const std::size_t axis,
                          NormalAxis(c.attrs->Int("axis", 0), x.dims().size()));
  tensor::Dims strides = tensor::DenseStrides(x.dims());
  const std::int64_t step = strides[axis];
  strides[axis] = 0;
  Status wrong;
  ForEachIndex<1>(y.dims(), {strides}, [&](std::int64_t i, const auto* at) {
    const auto place = PlaceAt(indices, i, x.dims()[axis]);
    if (!place.ok()) {
      if (wrong.ok()) wrong = place.status();
      return;
    }
    CopyElement(y, i, x, at[0] + *place * step);
  });
  return wrong;
}

OpCost GatherCost(const CostContext& c) {
  return {.bytes = 2 * BytesOf(c.outputs[0]) + BytesOf(c.inputs[1])};
}

constexpr AttrDef kAttrs[] = {{"axis", AttrKind::kInt}};

}  // namespace

constinit const OpDef op::gather_elements = {
    .name = "gather_elements",
    .summary = "for each index the element of x at its own place, but at the index along the axis",
    .min_inputs = 2,
    .max_inputs = 2,
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = GatherCost,
    .loop = LoopShape::kMove,
    .foreign = {.onnx = "GatherElements"},
};

}  // namespace npukit
