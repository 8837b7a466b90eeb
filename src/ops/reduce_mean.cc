#include "base/text.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Dim;
using tensor::DType;
using tensor::Value;

Result<std::vector<bool>> Reduced(const Attrs& attrs, std::size_t rank) {
  const Ints axes = attrs.IntList("axes");
  if (axes.empty()) return std::vector<bool>(rank, true);
  return AxisMask(axes, rank);
}

Status Infer(InferContext& c) {
  const tensor::Type& x = c.inputs[0];
  if (x.dtype != DType::kUndefined && x.dtype != DType::kI32 && x.dtype != DType::kI64 &&
      !IsRealFloat(x.dtype)) {
    return InvalidArgument(Cat("input 0 is ", tensor::DTypeName(x.dtype),
                               ", expected a floating-point type, int32 or int64"));
  }
  c.outputs[0] = tensor::Type::Tensor(x.dtype, std::nullopt);
  if (!x.shape) return OkStatus();
  NPUKIT_ASSIGN_OR_RETURN(const std::vector<bool> reduced, Reduced(c.attrs, x.shape->rank()));
  const bool keep = c.attrs.Int("keepdims", 1) != 0;
  std::vector<Dim> dims;
  for (std::size_t i = 0; i < reduced.size(); ++i) {
    if (!reduced[i]) {
      dims.push_back(x.shape->dims[i]);
    } else if (keep) {
      dims.push_back(Dim::Of(1));
    }
  }
  c.outputs[0].shape = tensor::Shape(std::move(dims));
  return OkStatus();
}

// The mean of nothing is NaN, and 0 for integers. Integers are summed with wrapping and divided
// towards zero.
Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  const Value& x = c.inputs[0];
  const std::size_t rank = x.dims().size();
  NPUKIT_ASSIGN_OR_RETURN(const std::vector<bool> reduced, Reduced(*c.attrs, rank));
  const tensor::Dims strides = tensor::DenseStrides(x.dims());
  tensor::Dims outer, outer_strides, inner, inner_strides;
  for (std::size_t i = 0; i < rank; ++i) {
    (reduced[i] ? inner : outer).push_back(x.dims()[i]);
    (reduced[i] ? inner_strides : outer_strides).push_back(strides[i]);
  }
  const std::int64_t n =
      *tensor::ElementCount(inner);  // fits: x has at least as many, or a size of 0 is in outer
  const bool floats = IsRealFloat(x.dtype());
  ForEachIndex<1>(outer, {outer_strides}, [&](std::int64_t i, const auto& from) {
    double sum = 0;
    std::uint64_t bits = 0;
    ForEachIndex<1>(inner, {inner_strides}, [&](std::int64_t, const auto* at) {
      if (floats) {
        sum += Load(x, from[0] + at[0]);
      } else {
        bits += LoadBits(x, from[0] + at[0]);
      }
    });
    if (floats) {
      Store(y, i, sum / static_cast<double>(n));
    } else {
      StoreBits(y, i, n == 0 ? 0 : static_cast<std::uint64_t>(static_cast<std::int64_t>(bits) / n));
    }
  });
  return OkStatus();
}

OpCost ReduceCost(const CostContext& c) {
  return {.vector_ops = CountOf(c.inputs[0]), .bytes = AllBytes(c)};
}

constexpr AttrDef kAttrs[] = {{"axes", AttrKind::kInts}, {"keepdims", AttrKind::kInt}};

}  // namespace

constinit const OpDef op::reduce_mean = {
    .name = "reduce_mean",
    .summary = "mean over the named axes (all, when none is named)",
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = ReduceCost,
    .loop = LoopShape::kReduce,
    .layout = LayoutRule::kAxes,
    .foreign = {.onnx = "ReduceMean", .tflite = "MEAN", .nnrt = "OH_NN_OPS_REDUCE_MEAN"},
};

}  // namespace npukit
