#include "ops/indexing.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "ops/rules.h"

namespace npukit::ops {

using tensor::DType;
using tensor::Value;

Status WantIndices(const InferContext& c, std::size_t input, bool or_int32) {
  const DType t = c.inputs[input].dtype;
  if (t == DType::kUndefined || t == DType::kI64 || (or_int32 && t == DType::kI32)) {
    return OkStatus();
  }
  return InvalidArgument(Cat("input ", input, " is ", tensor::DTypeName(t), ", expected ",
                             or_int32 ? "int32 or int64" : "int64"));
}

Status WantOneInteger(const InferContext& c, std::size_t input) {
  NPUKIT_RETURN_IF_ERROR(WantIndices(c, input, true));
  const tensor::Type& t = c.inputs[input];
  if (!t.is_static() || tensor::ElementCount(t.dims()) == 1) return OkStatus();
  return InvalidArgument(Cat("input ", input, " is ", t.ToString(), ", expected one number"));
}

Result<std::int64_t> PlaceAt(const Value& indices, std::int64_t i, std::int64_t n) {
  const std::int64_t given = tensor::ElementAsInt64(indices, i);
  if (given < -n || given >= n) {
    return InvalidArgument(Cat("index ", given, " is outside a dimension of ", n));
  }
  return given < 0 ? given + n : given;
}

Result<Reduction> ReadReduction(const Attrs& attrs, DType t) {
  constexpr std::string_view kNames[] = {"none", "add", "mul", "min", "max"};
  const std::string_view given = attrs.String("reduction", "none");
  const auto* at = std::find(std::begin(kNames), std::end(kNames), given);
  if (at == std::end(kNames)) {
    return InvalidArgument(
        Cat("reduction ", Printable(given), " is not known: none, add, mul, min or max"));
  }
  const auto reduction = static_cast<Reduction>(at - std::begin(kNames));
  const bool fits =
      t == DType::kUndefined || t == DType::kBool || IsRealFloat(t) || tensor::IsInteger(t);
  if (reduction != Reduction::kNone && !fits) {
    return InvalidArgument(
        Cat("reduction ", given, " of ", tensor::DTypeName(t), ", expected a number type or bool"));
  }
  return reduction;
}

namespace {

double Reduce(Reduction r, double a, double b) {
  switch (r) {
    case Reduction::kAdd:
      return a + b;
    case Reduction::kMul:
      return a * b;
    case Reduction::kMin:
      return a != a || a < b ? a : b;
    case Reduction::kMax:
      return a != a || a > b ? a : b;
    case Reduction::kNone:
      break;
  }
  return b;
}

std::uint64_t ReduceBits(Reduction r, std::uint64_t a, std::uint64_t b, bool is_signed) {
  const bool less = is_signed ? static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b) : a < b;
  switch (r) {
    case Reduction::kAdd:
      return a + b;
    case Reduction::kMul:
      return a * b;
    case Reduction::kMin:
      return less ? a : b;
    case Reduction::kMax:
      return less ? b : a;
    case Reduction::kNone:
      break;
  }
  return b;
}

}  // namespace

Scatterer::Scatterer(Value& y, Reduction reduction) : y_(y), reduction_(reduction) {
  if (reduction == Reduction::kNone || !IsRealFloat(y.dtype())) return;
  sums_.resize(static_cast<std::size_t>(y.count()));
  for (std::int64_t i = 0; i < y.count(); ++i) sums_[static_cast<std::size_t>(i)] = Load(y, i);
}

void Scatterer::Put(std::int64_t i, const Value& updates, std::int64_t j) {
  if (reduction_ == Reduction::kNone) return CopyElement(y_, i, updates, j);
  if (IsRealFloat(y_.dtype())) {
    double& sum = sums_[static_cast<std::size_t>(i)];
    sum = Reduce(reduction_, sum, Load(updates, j));
    return;
  }
  StoreBits(
      y_, i,
      ReduceBits(reduction_, LoadBits(y_, i), LoadBits(updates, j), tensor::IsSigned(y_.dtype())));
}

void Scatterer::Finish() {
  for (std::size_t i = 0; i < sums_.size(); ++i) Store(y_, static_cast<std::int64_t>(i), sums_[i]);
}

}  // namespace npukit::ops
