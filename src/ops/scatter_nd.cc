#include "base/text.h"
#include "ops/indexing.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Dim;
using tensor::Value;

Status Infer(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(WantIndices(c, 1, false));
  NPUKIT_RETURN_IF_ERROR(WantSameDType(c, 0, 2));
  NPUKIT_RETURN_IF_ERROR(ReadReduction(c.attrs, c.inputs[0].dtype).status());
  const tensor::Type& x = c.inputs[0];
  const tensor::Type& indices = c.inputs[1];
  const tensor::Type& updates = c.inputs[2];
  c.outputs[0] = x;
  if (x.dtype == tensor::DType::kUndefined) c.outputs[0].dtype = updates.dtype;
  for (const tensor::Type* t : {&x, &indices}) {
    if (t->shape && t->shape->rank() == 0)
      return InvalidArgument(Cat("found ", t->ToString(), ", expected rank 1 or more"));
  }
  if (!x.shape || !indices.shape || !indices.shape->dims.back().known()) return OkStatus();
  const std::vector<Dim>& q = indices.shape->dims;
  const std::int64_t k = q.back().value;
  if (k > static_cast<std::int64_t>(x.shape->rank())) {
    return InvalidArgument(Cat("an index has ", k, " numbers, expected at most ", x.shape->rank(),
                               " for ", x.ToString()));
  }
  if (!updates.shape) return OkStatus();
  std::vector<Dim> expected(q.begin(), q.end() - 1);
  expected.insert(expected.end(), x.shape->dims.begin() + static_cast<std::ptrdiff_t>(k),
                  x.shape->dims.end());
  bool same = expected.size() == updates.shape->rank();
  for (std::size_t d = 0; same && d < expected.size(); ++d) {
    same = SameDim(expected[d], updates.shape->dims[d]).ok();
  }
  if (!same) {
    return InvalidArgument(Cat("input 2 is ", updates.ToString(), ", expected the shape ",
                               tensor::Shape(std::move(expected)).ToString()));
  }
  return OkStatus();
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  const Value& x = c.inputs[0];
  const Value& indices = c.inputs[1];
  const Value& updates = c.inputs[2];
  NPUKIT_ASSIGN_OR_RETURN(const Reduction reduction, ReadReduction(*c.attrs, x.dtype()));
  CopyAll(y, x);
  if (updates.count() == 0) return OkStatus();
  const std::int64_t k = indices.dims().back();
  const tensor::Dims strides = tensor::DenseStrides(x.dims());
  const std::int64_t row = k == 0 ? x.count() : strides[static_cast<std::size_t>(k) - 1];
  Scatterer scatterer(y, reduction);
  for (std::int64_t p = 0; p < updates.count() / row; ++p) {
    std::int64_t to = 0;
    for (std::int64_t j = 0; j < k; ++j) {
      const auto d = static_cast<std::size_t>(j);
      NPUKIT_ASSIGN_OR_RETURN(const std::int64_t place, PlaceAt(indices, p * k + j, x.dims()[d]));
      to += place * strides[d];
    }
    for (std::int64_t i = 0; i < row; ++i) scatterer.Put(to + i, updates, p * row + i);
  }
  scatterer.Finish();
  return OkStatus();
}

constexpr AttrDef kAttrs[] = {{"reduction", AttrKind::kString}};

}  // namespace

constinit const OpDef op::scatter_nd = {
    .name = "scatter_nd",
    .summary =
        "x with slices put (or added, multiplied, min, max) where lists of indices say; later "
        "ones win",
    .min_inputs = 3,
    .max_inputs = 3,
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = CostMove,
    .loop = LoopShape::kOther,
    .foreign = {.onnx = "ScatterND", .tflite = "SCATTER_ND", .nnrt = "OH_NN_OPS_SCATTER_ND"},
};

}  // namespace npukit
