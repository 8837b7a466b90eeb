#include "ops/reduce.h"

#include <cmath>
#include <limits>

#include "base/text.h"

namespace npukit::ops {

using tensor::Dims;
using tensor::DType;
using tensor::Value;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

// Begins with a number, takes every element of a group, ends with the result: in double for floats,
// in 64 bits for integers.
struct SumOf {
  static double Begin() { return 0; }
  static std::uint64_t BeginInt(DType) { return 0; }
  static double Take(double f, double x) { return f + x; }
  static std::uint64_t TakeInt(std::uint64_t a, std::uint64_t x, bool) { return a + x; }
  static double End(double f, std::int64_t) { return f; }
  static std::uint64_t EndInt(std::uint64_t a, std::int64_t, bool) { return a; }
};

struct MeanOf : SumOf {
  static double End(double f, std::int64_t n) { return f / static_cast<double>(n); }
  static std::uint64_t EndInt(std::uint64_t a, std::int64_t n, bool is_signed) {
    if (n == 0) return 0;
    return is_signed ? static_cast<std::uint64_t>(static_cast<std::int64_t>(a) / n)
                     : a / static_cast<std::uint64_t>(n);
  }
};

struct ProdOf : SumOf {
  static double Begin() { return 1; }
  static std::uint64_t BeginInt(DType) { return 1; }
  static double Take(double f, double x) { return f * x; }
  static std::uint64_t TakeInt(std::uint64_t a, std::uint64_t x, bool) { return a * x; }
};

template <bool kLargest>
struct EndOf : SumOf {
  static double Begin() { return kLargest ? -kInf : kInf; }
  static std::uint64_t BeginInt(DType t) {
    if (t == DType::kBool) return kLargest ? 0 : 1;
    const int bits = tensor::DTypeBits(t);
    if (!tensor::IsSigned(t)) return kLargest ? 0 : ~std::uint64_t{0} >> (64 - bits);
    const std::uint64_t top = (std::uint64_t{1} << (bits - 1)) - 1;
    return kLargest ? ~top : top;
  }
  static double Take(double f, double x) {
    if (f != f || x != x) return f + x;
    return (kLargest ? x > f : x < f) ? x : f;
  }
  static std::uint64_t TakeInt(std::uint64_t a, std::uint64_t x, bool is_signed) {
    const bool less =
        is_signed ? static_cast<std::int64_t>(x) < static_cast<std::int64_t>(a) : x < a;
    return (kLargest ? !less : less) ? x : a;
  }
};

// The elements that stay, and those of one group.
struct Walk {
  Walk(const Dims& dims, const std::vector<bool>& reduced) {
    const Dims strides = tensor::DenseStrides(dims);
    for (std::size_t i = 0; i < dims.size(); ++i) {
      (reduced[i] ? inner : outer).push_back(dims[i]);
      (reduced[i] ? inner_strides : outer_strides).push_back(strides[i]);
    }
  }
  Dims outer, outer_strides, inner, inner_strides;
};

template <class R>
void ReduceAs(const Value& x, const Walk& w, Value& y) {
  const std::int64_t n = *tensor::ElementCount(w.inner);  // fits: x has as many, or outer a 0
  const bool floats = IsRealFloat(x.dtype());
  const bool is_signed = tensor::IsSigned(x.dtype());
  ForEachIndex<1>(w.outer, {w.outer_strides}, [&](std::int64_t i, const auto& from) {
    double f = R::Begin();
    std::uint64_t bits = R::BeginInt(x.dtype());
    ForEachIndex<1>(w.inner, {w.inner_strides}, [&](std::int64_t, const auto* at) {
      if (floats) {
        f = R::Take(f, Load(x, from[0] + at[0]));
      } else {
        bits = R::TakeInt(bits, LoadBits(x, from[0] + at[0]), is_signed);
      }
    });
    if (floats) {
      Store(y, i, R::End(f, n));
    } else {
      StoreBits(y, i, R::EndInt(bits, n, is_signed));
    }
  });
}

// The largest is taken out first, so that exp neither overflows nor loses everything.
void LogSumExp(const Value& x, const Walk& w, Value& y) {
  ForEachIndex<1>(w.outer, {w.outer_strides}, [&](std::int64_t i, const auto& from) {
    double top = -kInf;
    ForEachIndex<1>(w.inner, {w.inner_strides}, [&](std::int64_t, const auto* at) {
      top = EndOf<true>::Take(top, Load(x, from[0] + at[0]));
    });
    double sum = 0;
    if (std::isfinite(top)) {
      ForEachIndex<1>(w.inner, {w.inner_strides}, [&](std::int64_t, const auto* at) {
        sum += std::exp(Load(x, from[0] + at[0]) - top);
      });
      top += std::log(sum);
    }
    Store(y, i, IsRealFloat(y.dtype()) ? top : std::trunc(top));
  });
}

}  // namespace

Result<std::vector<bool>> ReducedAxes(const Ints& axes, std::size_t rank) {
  if (axes.empty()) return std::vector<bool>(rank, true);
  return AxisMask(axes, rank);
}

Status WantReducible(const InferContext& c, Reduction kind) {
  const bool bools = kind == Reduction::kMax || kind == Reduction::kMin;
  if (bools && c.inputs[0].dtype == DType::kBool) return OkStatus();
  return WantNumber(c, 0);
}

tensor::Shape ReducedShape(const tensor::Shape& x, const std::vector<bool>& reduced, bool keep) {
  std::vector<tensor::Dim> dims;
  for (std::size_t i = 0; i < reduced.size(); ++i) {
    if (!reduced[i]) {
      dims.push_back(x.dims[i]);
    } else if (keep) {
      dims.push_back(tensor::Dim::Of(1));
    }
  }
  return tensor::Shape(std::move(dims));
}

void Reduce(Reduction kind, const Value& x, const std::vector<bool>& reduced, Value& y) {
  const Walk w(x.dims(), reduced);
  switch (kind) {
    case Reduction::kSum:
      return ReduceAs<SumOf>(x, w, y);
    case Reduction::kMean:
      return ReduceAs<MeanOf>(x, w, y);
    case Reduction::kMax:
      return ReduceAs<EndOf<true>>(x, w, y);
    case Reduction::kMin:
      return ReduceAs<EndOf<false>>(x, w, y);
    case Reduction::kProd:
      return ReduceAs<ProdOf>(x, w, y);
    case Reduction::kLogSumExp:
      return LogSumExp(x, w, y);
  }
}

Status InferReduce(InferContext& c, Reduction kind) {
  NPUKIT_RETURN_IF_ERROR(WantReducible(c, kind));
  const tensor::Type& x = c.inputs[0];
  c.outputs[0] = tensor::Type::Tensor(x.dtype, std::nullopt);
  if (!x.shape) return OkStatus();
  NPUKIT_ASSIGN_OR_RETURN(const std::vector<bool> reduced,
                          ReducedAxes(c.attrs.IntList("axes"), x.shape->rank()));
  c.outputs[0].shape = ReducedShape(*x.shape, reduced, c.attrs.Int("keepdims", 1) != 0);
  return OkStatus();
}

Status EvaluateReduce(EvalContext& c, Reduction kind, InferFn infer) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, infer));
  const Value& x = c.inputs[0];
  NPUKIT_ASSIGN_OR_RETURN(const std::vector<bool> reduced,
                          ReducedAxes(c.attrs->IntList("axes"), x.dims().size()));
  Reduce(kind, x, reduced, y);
  return OkStatus();
}

OpCost ReduceCost(const CostContext& c) {
  return {.vector_ops = CountOf(c.inputs[0]), .bytes = AllBytes(c)};
}

}  // namespace npukit::ops
