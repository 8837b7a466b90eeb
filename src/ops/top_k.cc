#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/text.h"
#include "ops/indexing.h"
#include "ops/outputs.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Dim;
using tensor::DType;
using tensor::Value;

Status Infer(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(WantNumber(c, 0));
  NPUKIT_RETURN_IF_ERROR(WantOneInteger(c, 1));
  const tensor::Type& x = c.inputs[0];
  c.outputs[0] = tensor::Type::Tensor(x.dtype, x.shape);
  c.outputs[1] = tensor::Type::Tensor(DType::kI64, x.shape);
  const bool known = c.constants[1] != nullptr && c.constants[1]->count() == 1;
  const std::int64_t k = known ? tensor::ElementAsInt64(*c.constants[1], 0) : 0;
  if (k < 0) return InvalidArgument(Cat("k is ", k));
  if (!x.shape) return OkStatus();
  NPUKIT_ASSIGN_OR_RETURN(const std::size_t axis,
                          NormalAxis(c.attrs.Int("axis", -1), x.shape->rank()));
  const Dim& n = x.shape->dims[axis];
  if (known && n.known() && k > n.value)
    return InvalidArgument(Cat("k is ", k, ", axis ", axis, " has ", n.value, " elements"));
  for (tensor::Type& t : c.outputs) t.shape->dims[axis] = known ? Dim::Of(k) : Dim{};
  return OkStatus();
}

// Of equals the one with the lower index comes first. NaN counts as larger than any number.
Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(std::vector<Value> y, MakeOutputs(c, Infer, 2));
  const Value& x = c.inputs[0];
  NPUKIT_ASSIGN_OR_RETURN(const std::size_t axis,
                          NormalAxis(c.attrs->Int("axis", -1), x.dims().size()));
  const bool largest = c.attrs->Int("largest", 1) != 0;
  const bool floats = IsRealFloat(x.dtype());
  const bool is_signed = tensor::IsSigned(x.dtype());
  const auto less = [&](std::int64_t a, std::int64_t b) {
    if (floats) {
      const double fa = Load(x, a), fb = Load(x, b);
      return fa < fb || (fa == fa && fb != fb);
    }
    const std::uint64_t ba = LoadBits(x, a), bb = LoadBits(x, b);
    return is_signed ? static_cast<std::int64_t>(ba) < static_cast<std::int64_t>(bb) : ba < bb;
  };
  const std::int64_t n = x.dims()[axis];
  const std::int64_t k = y[0].dims()[axis];
  const tensor::Dims strides = tensor::DenseStrides(x.dims());
  const tensor::Dims out_strides = tensor::DenseStrides(y[0].dims());
  tensor::Dims outer = x.dims();
  outer[axis] = k == 0 ? 0 : 1;
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  ForEachIndex<2>(outer, {strides, out_strides}, [&](std::int64_t, const auto* at) {
    std::iota(order.begin(), order.end(), 0);
    const auto first = [&](std::int64_t i, std::int64_t j) {
      const std::int64_t a = at[0] + i * strides[axis], b = at[0] + j * strides[axis];
      if (largest ? less(b, a) : less(a, b)) return true;
      if (largest ? less(a, b) : less(b, a)) return false;
      return i < j;
    };
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(k), order.end(),
                      first);
    for (std::int64_t i = 0; i < k; ++i) {
      const std::int64_t from = order[static_cast<std::size_t>(i)];
      const std::int64_t to = at[1] + i * out_strides[axis];
      CopyElement(y[0], to, x, at[0] + from * strides[axis]);
      StoreBits(y[1], to, static_cast<std::uint64_t>(from));
    }
  });
  return OkStatus();
}

OpCost TopKCost(const CostContext& c) {
  const double n = CountOf(c.inputs[0]);
  return {.vector_ops = n * (10 + std::log2(n + 1)), .bytes = AllBytes(c)};
}

constexpr AttrDef kAttrs[] = {
    {"axis", AttrKind::kInt}, {"largest", AttrKind::kInt}, {"sorted", AttrKind::kInt}};

}  // namespace

constinit const OpDef op::top_k = {
    .name = "top_k",
    .summary = "the k largest (or smallest) elements along an axis, in order, and where they are",
    .min_inputs = 2,
    .max_inputs = 2,
    .outputs = 2,
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = TopKCost,
    .loop = LoopShape::kOther,
    .foreign = {.onnx = "TopK", .tflite = "TOPK_V2", .nnrt = "OH_NN_OPS_TOP_K"},
};

}  // namespace npukit
