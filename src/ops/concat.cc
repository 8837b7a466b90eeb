#include "base/text.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Dim;
using tensor::Value;

Status Infer(InferContext& c) {
  tensor::DType dtype = tensor::DType::kUndefined;
  const tensor::Type* ranked = nullptr;  // the first with a known rank: gives the rank of all
  bool all_known = true;
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    const tensor::Type& t = c.inputs[i];
    if (t.dtype != tensor::DType::kUndefined) {
      if (dtype != tensor::DType::kUndefined && t.dtype != dtype) {
        return InvalidArgument(Cat("input ", i, " is ", tensor::DTypeName(t.dtype),
                                   ", the ones before are ", tensor::DTypeName(dtype)));
      }
      dtype = t.dtype;
    }
    if (!t.shape) {
      all_known = false;
    } else if (ranked == nullptr) {
      ranked = &t;
    } else if (t.shape->rank() != ranked->shape->rank()) {
      return InvalidArgument(Cat("input ", i, " is ", t.ToString(), ", expected rank ",
                                 ranked->shape->rank(), " as ", ranked->ToString()));
    }
  }
  c.outputs[0] = tensor::Type::Tensor(dtype, std::nullopt);
  if (ranked == nullptr) return OkStatus();
  const std::size_t rank = ranked->shape->rank();
  if (rank == 0) return InvalidArgument("a scalar has no axis to join along; use shape [1]");
  NPUKIT_ASSIGN_OR_RETURN(const std::size_t axis, NormalAxis(c.attrs.Int("axis"), rank));
  tensor::Shape out(std::vector<Dim>(rank, Dim{}));
  std::int64_t total = 0;
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    if (!c.inputs[i].shape) continue;
    for (std::size_t d = 0; d < rank; ++d) {
      const Dim& dim = c.inputs[i].shape->dims[d];
      if (d == axis) {
        all_known = all_known && dim.known();
        if (dim.known() && __builtin_add_overflow(total, dim.value, &total)) {
          return ResourceExhausted("the joined axis is too long");
        }
        continue;
      }
      auto merged = SameDim(out.dims[d], dim);
      if (!merged.ok()) return merged.status().WithContext(Cat("input ", i, ", dimension ", d));
      out.dims[d] = *merged;
    }
  }
  if (c.inputs.size() == 1) {
    out.dims[axis] = ranked->shape->dims[axis];
  } else if (all_known) {
    out.dims[axis] = Dim::Of(total);
  }
  c.outputs[0].shape = std::move(out);
  return OkStatus();
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  NPUKIT_ASSIGN_OR_RETURN(const std::size_t axis,
                          NormalAxis(c.attrs->Int("axis"), y.dims().size()));
  const tensor::Dims strides = tensor::DenseStrides(y.dims());
  std::int64_t start = 0;
  for (const Value& x : c.inputs) {
    const std::int64_t offset = start * strides[axis];
    ForEachIndex<1>(x.dims(), {strides},
                    [&](std::int64_t i, const auto* at) { CopyElement(y, offset + at[0], x, i); });
    start += x.dims()[axis];
  }
  return OkStatus();
}

constexpr AttrDef kAttrs[] = {{"axis", AttrKind::kInt, true}};

}  // namespace

constinit const OpDef op::concat = {
    .name = "concat",
    .summary = "the inputs one after the other along an axis",
    .max_inputs = -1,
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = CostMove,
    .loop = LoopShape::kMove,
    .layout = LayoutRule::kAxes,
    .foreign = {.onnx = "Concat", .tflite = "CONCATENATION", .nnrt = "OH_NN_OPS_CONCAT"},
};

}  // namespace npukit
