#include "ops/quant.h"

#include <algorithm>
#include <limits>

#include "base/text.h"

namespace npukit::ops {

using tensor::Dims;
using tensor::DType;
using tensor::Shape;
using tensor::Type;
using tensor::Value;

Status WantDType(const InferContext& c, std::size_t input, bool (*accepts)(DType),
                 const char* expected) {
  if (input >= c.inputs.size()) return OkStatus();
  const DType t = c.inputs[input].dtype;
  if (t == DType::kUndefined || accepts(t)) return OkStatus();
  return InvalidArgument(
      Cat("input ", input, " is ", tensor::DTypeName(t), ", expected ", expected));
}

Status WantInt8(const InferContext& c, std::size_t input) {
  return WantDType(
      c, input, [](DType t) { return t == DType::kI8 || t == DType::kU8; }, "int8 or uint8");
}

Status WantOneNumber(const InferContext& c, std::size_t input) {
  if (input >= c.inputs.size() || !c.inputs[input].is_static()) return OkStatus();
  if (tensor::ElementCount(c.inputs[input].dims()) == 1) return OkStatus();
  return InvalidArgument(
      Cat("input ", input, " is ", c.inputs[input].ToString(), ", expected one number"));
}

bool IsQuantized(DType t) {
  const int bits = tensor::DTypeBits(t);
  return (tensor::IsInteger(t) && bits <= 16) || (tensor::IsFloat(t) && bits <= 8);
}

Result<DType> DTypeAttr(const Attrs& attrs, std::string_view name, bool (*accepts)(DType),
                        const char* expected) {
  const std::int64_t n = attrs.Int(name, 0);
  if (n == 0) return DType::kUndefined;
  if (n > 0 && n < tensor::kDTypeCount && accepts(static_cast<DType>(n)))
    return static_cast<DType>(n);
  const bool known = n > 0 && n < tensor::kDTypeCount;
  return InvalidArgument(Cat(name, " is ", known ? tensor::DTypeName(static_cast<DType>(n)) : "",
                             known ? "" : Cat(n), ", expected ", expected));
}

Result<Granularity> GranularityOf(const Attrs& attrs, const Dims& x, const Dims& scale) {
  Granularity g;
  if (tensor::ElementCount(scale) == 1) return g;
  const std::int64_t block = attrs.Int("block_size", 0);
  if (block < 0)
    return InvalidArgument(Cat("block_size is ", block, ", expected 0 (no blocks) or more"));
  // The axis says nothing about a list.
  std::size_t axis = 0;
  if (x.size() != 1) {
    NPUKIT_ASSIGN_OR_RETURN(axis, NormalAxis(attrs.Int("axis", 1), x.size()));
  } else if (block != 0) {
    NPUKIT_ASSIGN_OR_RETURN(
        axis, NormalAxis(attrs.Int("axis", 0) == 1 ? 0 : attrs.Int("axis", 0), x.size()));
  }
  g.length = std::max<std::int64_t>(x[axis], 1);
  for (std::size_t i = axis + 1; i < x.size(); ++i) g.inner *= std::max<std::int64_t>(x[i], 1);
  Dims expected = x;
  if (block == 0) {
    g.block = 1;
    g.blocks = g.length;
    g.per_axis = true;
    expected = {x[axis]};
  } else {
    g.block = block;
    g.blocks = x[axis] / block + (x[axis] % block != 0);
    expected[axis] = g.blocks;
  }
  if (scale == expected) return g;
  return InvalidArgument(Cat(
      "the scale has shape [", JoinInts(scale, ", "), "], expected [", JoinInts(expected, ", "),
      "] for ", block == 0 ? Cat("axis ", axis) : Cat("blocks of ", block, " along axis ", axis),
      ", or one number"));
}

Status CheckQuantShapes(const InferContext& c) {
  const auto& x = c.inputs[0];
  const auto& scale = c.inputs[1];
  if (x.is_static() && scale.is_static()) {
    NPUKIT_RETURN_IF_ERROR(GranularityOf(c.attrs, x.dims(), scale.dims()).status());
  }
  if (Has(c, 2) && scale.is_static() && c.inputs[2].is_static() &&
      tensor::ElementCount(scale.dims()) != tensor::ElementCount(c.inputs[2].dims())) {
    return InvalidArgument(Cat("the zero point has shape [", JoinInts(c.inputs[2].dims(), ", "),
                               "], expected that of the scale, [", JoinInts(scale.dims(), ", "),
                               "]"));
  }
  return OkStatus();
}

double RoundTo(DType t, double x) {
  switch (t) {
    case DType::kF32:
      return static_cast<float>(x);
    case DType::kF16:
    case DType::kBF16: {
      std::uint16_t bits = 0;
      Value one = Value::BorrowMutable(t, {}, &bits);
      tensor::StoreDouble(one, 0, x);
      return tensor::ElementAsDouble(one, 0);
    }
    default:
      return x;
  }
}

namespace {

double Largest(DType t) {
  switch (t) {
    case DType::kF8E4M3FN:
      return 448;
    case DType::kF8E4M3FNUZ:
      return 240;
    case DType::kF8E5M2:
    case DType::kF8E5M2FNUZ:
      return 57344;
    default:
      return std::numeric_limits<double>::infinity();
  }
}

}  // namespace

void StoreQuantized(Value& y, std::int64_t i, double quotient, double zero, bool saturate) {
  if (!tensor::IsFloat(y.dtype()))
    return tensor::StoreDouble(y, i, std::nearbyint(quotient) + zero);
  double x = quotient + zero;
  if (saturate && !std::isnan(x)) x = std::clamp(x, -Largest(y.dtype()), Largest(y.dtype()));
  tensor::StoreDouble(y, i, x);
}

Status InferMatMul(InferContext& c, std::size_t a, std::size_t b, DType out) {
  const Type types[] = {Type::Tensor(DType::kI32, c.inputs[a].shape),
                        Type::Tensor(DType::kI32, c.inputs[b].shape)};
  const Value* const constants[] = {nullptr, nullptr};
  const Attrs none;
  InferContext product{types, constants, none, c.outputs.first(1)};
  NPUKIT_RETURN_IF_ERROR(op::matmul.infer(product));
  c.outputs[0].dtype = out;
  return OkStatus();
}

Status CheckMatMulParam(const InferContext& c, std::size_t input, std::size_t matrix, bool rows) {
  if (!Has(c, input) || !c.inputs[input].is_static() || !c.inputs[matrix].shape) return OkStatus();
  const Dims p = c.inputs[input].dims();
  const auto& of = c.inputs[matrix].shape->dims;
  if (p.empty() || (p.size() == 1 && p[0] == 1)) return OkStatus();
  const std::size_t rank = of.size();
  const tensor::Dim one = tensor::Dim::Of(1);
  const tensor::Dim lines = rank < 2 ? one : rows ? of[rank - 2] : of[rank - 1];
  bool fits = !lines.known() || p.size() == 1 ? SameDim(lines, tensor::Dim::Of(p[0])).ok() : false;
  if (p.size() > 1) {
    fits = p.size() == rank;
    for (std::size_t i = 0; fits && i < rank; ++i) {
      const bool other = i + (rows ? 1 : 2) == rank;
      fits = other ? p[i] == 1 : SameDim(of[i], tensor::Dim::Of(p[i])).ok();
    }
  }
  if (fits) return OkStatus();
  return InvalidArgument(Cat("input ", input, " is ", c.inputs[input].ToString(),
                             ", expected one number or one for each ", rows ? "row" : "column",
                             " of ", c.inputs[matrix].ToString()));
}

MatMulWalk WalkOf(const Dims& a, const Dims& b, const Dims& y) {
  MatMulWalk w;
  w.m = a.size() < 2 ? 1 : a[a.size() - 2];
  w.k = a.back();
  w.n = b.size() < 2 ? 1 : b.back();
  const auto batch_of = [](const Dims& d) {
    return Dims(d.begin(), d.size() < 2 ? d.begin() : d.end() - 2);
  };
  w.batch_a = batch_of(a);
  w.batch_b = batch_of(b);
  const std::size_t kept = (a.size() > 1) + (b.size() > 1);
  w.batch = Dims(y.begin(), y.end() - static_cast<std::ptrdiff_t>(kept));
  return w;
}

Dims ParamStrides(const Value& p, const MatMulWalk& w, bool rows) {
  const std::int64_t lines = rows ? w.m : w.n;
  Dims to = w.batch;
  to.push_back(lines);
  if (!p.present() || p.count() <= 1) return Dims(to.size(), 0);
  Dims from = p.dims();
  if (from.size() > 1) from.erase(from.end() - (rows ? 1 : 2));
  return BroadcastStrides(from, to);
}

void MultiplyIntegers(const std::int32_t* a, const std::int32_t* b, std::int32_t* c, std::int64_t m,
                      std::int64_t k, std::int64_t n) {
  std::fill_n(c, m * n, 0);
  for (std::int64_t i = 0; i < m; ++i) {
    auto* row = reinterpret_cast<std::uint32_t*>(c + i * n);  // unsigned: wraps
    for (std::int64_t j = 0; j < k; ++j) {
      const auto x = static_cast<std::uint32_t>(a[i * k + j]);
      const std::int32_t* from = b + j * n;
      for (std::int64_t l = 0; l < n; ++l) row[l] += x * static_cast<std::uint32_t>(from[l]);
    }
  }
}

void Widen(const Value& v, std::int64_t first, std::int64_t count, std::int32_t* out) {
  if (v.dtype() == DType::kI8) {
    const auto* from = static_cast<const std::int8_t*>(v.data()) + first;
    std::copy_n(from, count, out);
  } else {
    const auto* from = static_cast<const std::uint8_t*>(v.data()) + first;
    std::copy_n(from, count, out);
  }
}

}  // namespace npukit::ops
