#include "eval/compare.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace npukit::eval {
namespace {

// Bits of the significand, the leading one included, and the exponent of the smallest normal
// number.
struct FloatFormat {
  int digits;
  int min_exponent;
};

FloatFormat FormatOf(tensor::DType t) {
  switch (t) {
    case tensor::DType::kF64:
      return {53, -1022};
    case tensor::DType::kF32:
      return {24, -126};
    case tensor::DType::kF16:
      return {11, -14};
    case tensor::DType::kBF16:
      return {8, -126};
    case tensor::DType::kF8E4M3FN:
      return {4, -6};
    case tensor::DType::kF8E4M3FNUZ:
      return {4, -7};
    case tensor::DType::kF8E5M2:
      return {3, -14};
    case tensor::DType::kF8E5M2FNUZ:
      return {3, -15};
    case tensor::DType::kF4E2M1:
      return {2, 0};
    case tensor::DType::kF8E8M0:
      return {1, -127};
    default:
      return {0, 0};
  }
}

// The distance from |x| to the next number of the format.
double UlpAt(double x, FloatFormat f) {
  if (f.digits == 0) return 1;  // integers and bool
  const int exponent = x == 0 ? f.min_exponent : std::max(std::ilogb(x), f.min_exponent);
  return std::ldexp(1.0, exponent - (f.digits - 1));
}

void CompareNumbers(const tensor::Value& a, const tensor::Value& b, Difference* d) {
  const FloatFormat format = FormatOf(b.dtype());
  double ab = 0;
  double aa = 0;
  double bb = 0;
  for (std::int64_t i = 0; i < d->count; ++i) {
    const double x = tensor::ElementAsDouble(a, i);
    const double y = tensor::ElementAsDouble(b, i);
    if (std::isfinite(x) && std::isfinite(y)) {
      const double diff = std::abs(x - y);
      if (x != y) ++d->unequal;
      if (diff > d->max_abs) {
        d->max_abs = diff;
        if (d->mismatched == 0) d->worst = i;
      }
      d->max_reference = std::max(d->max_reference, std::abs(y));
      d->max_ulp = std::max(d->max_ulp, diff / UlpAt(y, format));
      ab += x * y;
      aa += x * x;
      bb += y * y;
      d->error_squares += diff * diff;
    } else if (!(std::isnan(x) && std::isnan(y)) && x != y) {
      if (d->mismatched == 0) d->worst = i;
      ++d->mismatched;
      ++d->unequal;
    }
  }
  d->reference_squares = bb;
  if (aa > 0 && bb > 0) {
    d->cosine = ab / (std::sqrt(aa) * std::sqrt(bb));
  } else {
    d->cosine = aa == bb ? 1 : 0;
  }
}

}  // namespace

double Difference::relative() const {
  return max_abs == 0 ? 0 : max_reference == 0 ? INFINITY : max_abs / max_reference;
}

std::string Difference::ToString() const {
  std::string s = Cat(unequal, " of ", count, " differ; max |a-b| ", max_abs, " (", relative(),
                      " of max |b| ", max_reference, "), max ulp ", max_ulp, ", cosine ", cosine);
  if (mismatched > 0) s += Cat(", ", mismatched, " NaN or infinity against something else");
  if (worst >= 0) s += Cat(", worst at ", worst);
  return s;
}

Result<Difference> Compare(const tensor::Value& a, const tensor::Value& b) {
  if (!a.is_tensor() || !b.is_tensor()) return InvalidArgument("only tensors can be compared");
  if (a.dtype() != b.dtype() || a.dims() != b.dims()) {
    return InvalidArgument(
        Cat("cannot compare ", a.type().ToString(), " with ", b.type().ToString()));
  }
  Difference d;
  d.count = b.count();
  if (a.dtype() == tensor::DType::kString) {
    for (std::int64_t i = 0; i < d.count; ++i) {
      if (a.strings()[static_cast<std::size_t>(i)] == b.strings()[static_cast<std::size_t>(i)])
        continue;
      if (d.mismatched == 0) d.worst = i;
      ++d.mismatched;
      ++d.unequal;
    }
    return d;
  }
  CompareNumbers(a, b, &d);
  return d;
}

bool Within(const Difference& d, const Agreement& agreement) {
  if (d.mismatched > 0) return false;
  if (d.cosine < agreement.min_cosine) return false;
  if (d.max_abs <= agreement.max_abs + agreement.relative * d.max_reference) return true;
  return d.max_ulp <= agreement.max_ulp;
}

}  // namespace npukit::eval
