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
  const tensor::Type& x = c.inputs[0];
  const tensor::Type& indices = c.inputs[1];
  c.outputs[0] = tensor::Type::Tensor(x.dtype, std::nullopt);
  const std::int64_t batch = c.attrs.Int("batch_dims", 0);
  for (const tensor::Type* t : {&x, &indices}) {
    if (!t->shape) continue;
    const auto rank = static_cast<std::int64_t>(t->shape->rank());
    if (rank < 1) return InvalidArgument(Cat("found ", t->ToString(), ", expected rank 1 or more"));
    if (batch < 0 || batch >= rank) {
      return InvalidArgument(
          Cat("batch_dims is ", batch, ", expected 0 to ", rank - 1, " for ", t->ToString()));
    }
  }
  if (!indices.shape) return OkStatus();
  const std::vector<Dim>& q = indices.shape->dims;
  if (!x.shape || !q.back().known()) return OkStatus();
  const auto b = static_cast<std::size_t>(batch);
  const std::int64_t k = q.back().value;
  if (k < 1 || k > static_cast<std::int64_t>(x.shape->rank() - b)) {
    return InvalidArgument(Cat("an index has ", k, " numbers, expected 1 to ", x.shape->rank() - b,
                               " for ", x.ToString()));
  }
  std::vector<Dim> dims;
  for (std::size_t d = 0; d + 1 < q.size(); ++d) {
    if (d >= b) {
      dims.push_back(q[d]);
      continue;
    }
    auto both = SameDim(x.shape->dims[d], q[d]);
    if (!both.ok()) return both.status().WithContext(Cat("batch dimension ", d));
    dims.push_back(*both);
  }
  const auto from = static_cast<std::ptrdiff_t>(b) + static_cast<std::ptrdiff_t>(k);
  dims.insert(dims.end(), x.shape->dims.begin() + from, x.shape->dims.end());
  c.outputs[0].shape = tensor::Shape(std::move(dims));
  return OkStatus();
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  const Value& x = c.inputs[0];
  const Value& indices = c.inputs[1];
  const auto batch = static_cast<std::size_t>(c.attrs->Int("batch_dims", 0));
  const std::int64_t k = indices.dims().back();
  const std::int64_t picks = indices.count() / k;
  std::int64_t batches = 1;
  for (std::size_t d = 0; d < batch; ++d) batches *= x.dims()[d];
  if (picks == 0 || batches == 0) return OkStatus();
  const tensor::Dims strides = tensor::DenseStrides(x.dims());
  const std::int64_t row = strides[batch + static_cast<std::size_t>(k) - 1];
  const std::int64_t volume = x.count() / batches;
  for (std::int64_t p = 0; p < picks; ++p) {
    std::int64_t from = p / (picks / batches) * volume;
    for (std::int64_t j = 0; j < k; ++j) {
      const std::size_t d = batch + static_cast<std::size_t>(j);
      NPUKIT_ASSIGN_OR_RETURN(const std::int64_t place, PlaceAt(indices, p * k + j, x.dims()[d]));
      from += place * strides[d];
    }
    for (std::int64_t i = 0; i < row; ++i) CopyElement(y, p * row + i, x, from + i);
  }
  return OkStatus();
}

OpCost GatherCost(const CostContext& c) {
  return {.bytes = 2 * BytesOf(c.outputs[0]) + BytesOf(c.inputs[1])};
}

constexpr AttrDef kAttrs[] = {{"batch_dims", AttrKind::kInt}};

}  // namespace

constinit const OpDef op::gather_nd = {
    .name = "gather_nd",
    .summary = "the slices of x that lists of indices name, after the dimensions of the batch",
    .min_inputs = 2,
    .max_inputs = 2,
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = GatherCost,
    .loop = LoopShape::kMove,
    .foreign = {.onnx = "GatherND", .tflite = "GATHER_ND", .nnrt = "OH_NN_OPS_GATHER_ND"},
};

}  // namespace npukit
