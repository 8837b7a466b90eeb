#include "base/text.h"
#include "ops/indexing.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Value;

Status Infer(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(WantIndices(c, 1, true));
  NPUKIT_RETURN_IF_ERROR(WantSameDType(c, 0, 2));
  NPUKIT_RETURN_IF_ERROR(ReadReduction(c.attrs, c.inputs[0].dtype).status());
  const tensor::Type& x = c.inputs[0];
  const tensor::Type& indices = c.inputs[1];
  const tensor::Type& updates = c.inputs[2];
  c.outputs[0] = x;
  if (x.dtype == tensor::DType::kUndefined) c.outputs[0].dtype = updates.dtype;
  if (indices.shape && updates.shape) {
    bool same = indices.shape->rank() == updates.shape->rank();
    for (std::size_t d = 0; same && d < indices.shape->rank(); ++d) {
      same = SameDim(indices.shape->dims[d], updates.shape->dims[d]).ok();
    }
    if (!same) {
      return InvalidArgument(Cat("input 2 is ", updates.ToString(), ", expected the shape ",
                                 indices.shape->ToString(), " of the indices"));
    }
  }
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
  NPUKIT_ASSIGN_OR_RETURN(const Reduction reduction, ReadReduction(*c.attrs, x.dtype()));
  CopyAll(y, x);
  Scatterer scatterer(y, reduction);
  tensor::Dims strides = tensor::DenseStrides(x.dims());
  const std::int64_t step = strides[axis];
  strides[axis] = 0;
  Status wrong;
  ForEachIndex<1>(indices.dims(), {strides}, [&](std::int64_t i, const auto* at) {
    const auto place = PlaceAt(indices, i, x.dims()[axis]);
    if (!place.ok()) {
      if (wrong.ok()) wrong = place.status();
      return;
    }
    scatterer.Put(at[0] + *place * step, c.inputs[2], i);
  });
  scatterer.Finish();
  return wrong;
}

constexpr AttrDef kAttrs[] = {{"axis", AttrKind::kInt}, {"reduction", AttrKind::kString}};

}  // namespace

constinit const OpDef op::scatter_elements = {
    .name = "scatter_elements",
    .summary =
        "x with each update put (or added, multiplied, min, max) at its own place, but at the "
        "index along the axis; later ones win",
    .min_inputs = 3,
    .max_inputs = 3,
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = CostMove,
    .loop = LoopShape::kOther,
    .foreign = {.onnx = "ScatterElements"},
};

}  // namespace npukit
