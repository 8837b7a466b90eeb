// Cuts a tensor along an axis: into pieces of one (`split` absent), of equal size (`split` one
// number; the last piece may be smaller) or of the sizes listed.
#include <algorithm>
#include <optional>

#include "base/text.h"
#include "ops/given.h"
#include "ops/kinds.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Dim;
using tensor::DType;
using tensor::Type;
using tensor::Value;

constexpr std::int64_t kMaxPieces = 1 << 22;  // a piece costs far more than an element

// The size of every piece of a dimension of `n`.
Result<std::vector<std::int64_t>> Sizes(const Value* split, std::int64_t n) {
  std::vector<std::int64_t> sizes;
  if (split != nullptr && !split->dims().empty()) {
    if (split->count() > kMaxPieces)
      return ResourceExhausted(Cat("more than ", kMaxPieces, " pieces"));
    std::int64_t left = n;
    for (std::int64_t i = 0; i < split->count(); ++i) {
      const std::int64_t size = tensor::ElementAsInt64(*split, i);
      if (size < 0 || size > left) {
        return InvalidArgument(
            Cat("split: piece ", i, " has size ", size, ", and ", left, " of ", n, " are left"));
      }
      left -= size;
      sizes.push_back(size);
    }
    if (left != 0)
      return InvalidArgument(Cat("split: the pieces leave ", left, " of ", n, " over"));
    return sizes;
  }
  const std::int64_t piece = split == nullptr ? 1 : tensor::ElementAsInt64(*split, 0);
  if (piece < 1) return InvalidArgument(Cat("split: pieces of ", piece, ", expected 1 or more"));
  if (n / piece >= kMaxPieces) return ResourceExhausted(Cat("more than ", kMaxPieces, " pieces"));
  for (std::int64_t at = 0; at < n; at += piece) sizes.push_back(std::min(piece, n - at));
  return sizes;
}

bool GivesSplit(const InferContext& c) { return c.inputs.size() > 1 && Has(c, 1); }

Status Infer(InferContext& c) {
  const Type& x = c.inputs[0];
  if (!x.is_tensor())
    return InvalidArgument(Cat("input 0 is ", x.ToString(), ", expected a tensor"));
  const bool listed = IsGiven(c, 1);
  if (GivesSplit(c)) {
    const Type& s = c.inputs[1];
    const bool fits = s.is_tensor() && (s.dtype == DType::kUndefined || s.dtype == DType::kI64 ||
                                        s.dtype == DType::kI32);
    if (!fits || (s.shape && s.shape->rank() > 1)) {
      return InvalidArgument(
          Cat("input 1 is ", s.ToString(), ", expected int64 or int32: one size or a list"));
    }
  }
  if (!x.shape) {
    c.outputs[0] = Type::Sequence(Type::Tensor(x.dtype, std::nullopt));
    return OkStatus();
  }
  NPUKIT_ASSIGN_OR_RETURN(const std::size_t axis,
                          NormalAxis(c.attrs.Int("axis", 0), x.shape->rank()));
  std::vector<Dim> dims = x.shape->dims;
  const Dim whole = dims[axis];
  dims[axis] = Dim{};
  const Value* split = listed ? c.constants[1] : nullptr;
  if (!listed) {
    dims[axis] = Dim::Of(1);
    if (c.attrs.Int("keepdims", 1) == 0)
      dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
  } else if (split != nullptr && whole.known()) {
    NPUKIT_ASSIGN_OR_RETURN(const auto sizes, Sizes(split, whole.value));
    const bool same =
        std::all_of(sizes.begin(), sizes.end(), [&](std::int64_t n) { return n == sizes[0]; });
    if (!sizes.empty() && same) dims[axis] = Dim::Of(sizes[0]);
  }
  c.outputs[0] = Type::Sequence(Type::Tensor(x.dtype, tensor::Shape(std::move(dims))));
  return OkStatus();
}

Status Reference(EvalContext& c) {
  // Without a second input at all the rule knows that pieces are of one.
  if (c.inputs.size() > 1 && !c.inputs[1].present()) c.inputs = c.inputs.first(1);
  NPUKIT_ASSIGN_OR_RETURN(const Type t, TypeOfResult(c, Infer));
  const Value& x = c.inputs[0];
  NPUKIT_ASSIGN_OR_RETURN(const std::size_t axis,
                          NormalAxis(c.attrs->Int("axis", 0), x.dims().size()));
  const Value* split = c.inputs.size() > 1 ? &c.inputs[1] : nullptr;
  NPUKIT_ASSIGN_OR_RETURN(const auto sizes, Sizes(split, x.dims()[axis]));
  const bool drop = split == nullptr && c.attrs->Int("keepdims", 1) == 0;
  const std::int64_t row = tensor::DenseStrides(x.dims())[axis];
  std::vector<Value> items;
  std::int64_t at = 0;
  for (const std::int64_t size : sizes) {
    tensor::Dims dims = x.dims();
    dims[axis] = size;
    NPUKIT_ASSIGN_OR_RETURN(Value y, Value::Allocate(x.dtype(), dims));
    const std::int64_t inner = size * row;
    for (std::int64_t i = 0; i < y.count(); ++i) {
      const std::int64_t outer = i / inner;
      CopyElement(y, i, x, (outer * x.dims()[axis] + at) * row + i % inner);
    }
    if (drop) {
      dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
      y = y.Reshaped(std::move(dims));
    }
    items.push_back(std::move(y));
    at += size;
  }
  return c.SetOutput(0, Value::Sequence(*t.element, std::move(items)));
}

constexpr AttrDef kAttrs[] = {{"axis", AttrKind::kInt}, {"keepdims", AttrKind::kInt}};

}  // namespace

constinit const OpDef op::split_to_sequence = {
    .name = "split_to_sequence",
    .summary = "a tensor cut along an axis, as a sequence",
    .min_inputs = 1,
    .max_inputs = 2,
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = CostShape,
    .foreign = {.onnx = "SplitToSequence"},
};

}  // namespace npukit
