#include "base/text.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Value;

Result<std::vector<std::size_t>> Permutation(const Attrs& attrs, std::size_t rank) {
  std::vector<std::size_t> perm(rank);
  const AttrValue* given = attrs.Find("perm");
  if (given == nullptr) {
    for (std::size_t i = 0; i < rank; ++i) perm[i] = rank - 1 - i;
    return perm;
  }
  const Ints& p = std::get<Ints>(*given);
  std::vector<bool> seen(rank, false);
  bool valid = p.size() == rank;
  for (std::size_t i = 0; valid && i < rank; ++i) {
    valid = p[i] >= 0 && p[i] < static_cast<std::int64_t>(rank) &&
            !seen[static_cast<std::size_t>(p[i])];
    if (!valid) break;
    perm[i] = static_cast<std::size_t>(p[i]);
    seen[perm[i]] = true;
  }
  if (!valid)
    return InvalidArgument(
        Cat("perm [", JoinInts(p, ", "), "] is no permutation of ", rank, " dimensions"));
  return perm;
}

Status Infer(InferContext& c) {
  const tensor::Type& x = c.inputs[0];
  c.outputs[0] = tensor::Type::Tensor(x.dtype, std::nullopt);
  if (!x.shape) return OkStatus();
  NPUKIT_ASSIGN_OR_RETURN(const auto perm, Permutation(c.attrs, x.shape->rank()));
  std::vector<tensor::Dim> dims;
  for (const std::size_t p : perm) dims.push_back(x.shape->dims[p]);
  c.outputs[0].shape = tensor::Shape(std::move(dims));
  return OkStatus();
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  const Value& x = c.inputs[0];
  NPUKIT_ASSIGN_OR_RETURN(const auto perm, Permutation(*c.attrs, x.dims().size()));
  const tensor::Dims dense = tensor::DenseStrides(x.dims());
  tensor::Dims strides;
  for (const std::size_t p : perm) strides.push_back(dense[p]);
  ForEachIndex<1>(y.dims(), {strides},
                  [&](std::int64_t i, const auto* at) { CopyElement(y, i, x, at[0]); });
  return OkStatus();
}

constexpr AttrDef kAttrs[] = {{"perm", AttrKind::kInts}};

}  // namespace

constinit const OpDef op::transpose = {
    .name = "transpose",
    .summary = "dimension i of the result is dimension perm[i] of x",
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = CostMove,
    .loop = LoopShape::kMove,
    .layout = LayoutRule::kFixed,
    .foreign = {.onnx = "Transpose", .tflite = "TRANSPOSE", .nnrt = "OH_NN_OPS_TRANSPOSE"},
};

}  // namespace npukit
