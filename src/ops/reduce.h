// What the reductions share: which axes, the shape rule, the walk.
#pragma once

#include <limits>

#include "base/text.h"
#include "ops/rules.h"

namespace npukit::ops {

inline Result<std::vector<bool>> ReducedAxes(const Attrs& attrs, std::size_t rank) {
  const Ints axes = attrs.IntList("axes");
  if (axes.empty()) return std::vector<bool>(rank, true);
  return AxisMask(axes, rank);
}

inline Status InferReduce(InferContext& c) {
  const tensor::Type& x = c.inputs[0];
  if (x.dtype != tensor::DType::kUndefined && x.dtype != tensor::DType::kI32 &&
      x.dtype != tensor::DType::kI64 && !IsRealFloat(x.dtype)) {
    return InvalidArgument(Cat("input 0 is ", tensor::DTypeName(x.dtype),
                               ", expected a floating-point type, int32 or int64"));
  }
  c.outputs[0] = tensor::Type::Tensor(x.dtype, std::nullopt);
  if (!x.shape) return OkStatus();
  NPUKIT_ASSIGN_OR_RETURN(const std::vector<bool> reduced, ReducedAxes(c.attrs, x.shape->rank()));
  const bool keep = c.attrs.Int("keepdims", 1) != 0;
  std::vector<tensor::Dim> dims;
  for (std::size_t i = 0; i < reduced.size(); ++i) {
    if (!reduced[i]) {
      dims.push_back(x.shape->dims[i]);
    } else if (keep) {
      dims.push_back(tensor::Dim::Of(1));
    }
  }
  c.outputs[0].shape = tensor::Shape(std::move(dims));
  return OkStatus();
}

// `R` is one of the structs below: it begins with a number, takes every element of a group, and
// ends with the result; in double for floats, in 64 bits for integers.
template <class R>
Status EvaluateReduce(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(tensor::Value y, MakeOutput(c, InferReduce));
  const tensor::Value& x = c.inputs[0];
  const std::size_t rank = x.dims().size();
  NPUKIT_ASSIGN_OR_RETURN(const std::vector<bool> reduced, ReducedAxes(*c.attrs, rank));
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
    double f = R::Begin(x.dtype());
    auto bits = static_cast<std::uint64_t>(R::BeginInt(x.dtype()));
    ForEachIndex<1>(inner, {inner_strides}, [&](std::int64_t, const auto* at) {
      if (floats) {
        f = R::Take(f, Load(x, from[0] + at[0]));
      } else {
        bits = R::TakeInt(bits, LoadBits(x, from[0] + at[0]));
      }
    });
    if (floats) {
      Store(y, i, R::End(f, n));
    } else {
      StoreBits(y, i, R::EndInt(bits, n));
    }
  });
  return OkStatus();
}

// Integers are summed with wrapping.
struct SumOf {
  static double Begin(tensor::DType) { return 0; }
  static std::int64_t BeginInt(tensor::DType) { return 0; }
  static double Take(double f, double x) { return f + x; }
  static std::uint64_t TakeInt(std::uint64_t a, std::uint64_t x) { return a + x; }
  static double End(double f, std::int64_t) { return f; }
  static std::uint64_t EndInt(std::uint64_t a, std::int64_t) { return a; }
};

// NaN wins, as in numpy; of nothing it is the end of the type.
template <bool kLargest>
struct EndOf {
  static double Begin(tensor::DType) {
    constexpr double kInf = std::numeric_limits<double>::infinity();
    return kLargest ? -kInf : kInf;
  }
  static std::int64_t BeginInt(tensor::DType t) {
    const int bits = tensor::DTypeBits(t);
    const auto top = static_cast<std::int64_t>((std::uint64_t{1} << (bits - 1)) - 1);
    return kLargest ? -top - 1 : top;
  }
  static double Take(double f, double x) {
    if (f != f || x != x) return f + x;
    return (kLargest ? x > f : x < f) ? x : f;
  }
  static std::uint64_t TakeInt(std::uint64_t a, std::uint64_t x) {
    const auto before = static_cast<std::int64_t>(a);
    const auto now = static_cast<std::int64_t>(x);
    return (kLargest ? now > before : now < before) ? x : a;
  }
  static double End(double f, std::int64_t) { return f; }
  static std::uint64_t EndInt(std::uint64_t a, std::int64_t) { return a; }
};

inline OpCost ReduceCost(const CostContext& c) {
  return {.vector_ops = CountOf(c.inputs[0]), .bytes = AllBytes(c)};
}

inline constexpr AttrDef kReduceAttrs[] = {{"axes", AttrKind::kInts}, {"keepdims", AttrKind::kInt}};

}  // namespace npukit::ops
