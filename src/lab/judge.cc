#include "lab/judge.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/text.h"

namespace npukit::lab {
namespace {

using tensor::DType;
using tensor::Value;

std::string KindOf(const Value& v) {
  if (!v.present()) return "nothing";
  if (v.is_sequence()) return Cat("a sequence of ", v.items().size());
  if (v.is_optional()) return v.optional_item() == nullptr ? "an empty optional" : "an optional";
  return v.type().ToString();
}

std::string Differs(const Value& found, const Value& expected) {
  return Cat("expected ", KindOf(expected), ", found ", KindOf(found));
}

// Complex numbers as twice as many real ones.
Value Parts(const Value& v) {
  if (v.dtype() != DType::kComplex64 && v.dtype() != DType::kComplex128) return v;
  return Value::Borrow(v.dtype() == DType::kComplex64 ? DType::kF32 : DType::kF64, {2 * v.count()},
                       v.data());
}

bool Close(double found, double expected, const Tolerance& t) {
  if (std::isnan(expected) || std::isnan(found)) return std::isnan(expected) && std::isnan(found);
  if (std::isinf(expected) || std::isinf(found)) return expected == found;
  return std::abs(found - expected) <= t.atol + t.rtol * std::abs(expected);
}

// Tensors of one type and shape.
std::string JudgeElements(const Value& found, const Value& expected, const Tolerance& tolerance) {
  std::int64_t differ = 0, first = -1;
  const auto note = [&](std::int64_t i) {
    if (differ++ == 0) first = i;
  };
  const auto words = [&](const std::string& e, const std::string& f) {
    return differ == 0 ? ""
                       : Cat("element ", first, ": expected ", e, ", found ", f, " (", differ,
                             " of ", expected.count(), " differ)");
  };
  if (expected.dtype() == DType::kString) {
    for (std::int64_t i = 0; i < expected.count(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (expected.strings()[at] != found.strings()[at]) note(i);
    }
    if (differ == 0) return "";
    const auto at = static_cast<std::size_t>(first);
    return words(Cat("\"", Printable(expected.strings()[at]), "\""),
                 Cat("\"", Printable(found.strings()[at]), "\""));
  }
  const Value e = Parts(expected), f = Parts(found);
  const auto integer = [](const Value& v, std::int64_t i) {
    return v.dtype() == DType::kU64 ? Cat(static_cast<unsigned long long>(
                                          v.as<std::uint64_t>()[static_cast<std::size_t>(i)]))
                                    : Cat(static_cast<long long>(tensor::ElementAsInt64(v, i)));
  };
  if (!tensor::IsFloat(e.dtype())) {
    for (std::int64_t i = 0; i < e.count(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      const bool same = e.dtype() == DType::kU64
                            ? e.as<std::uint64_t>()[at] == f.as<std::uint64_t>()[at]
                            : tensor::ElementAsInt64(e, i) == tensor::ElementAsInt64(f, i);
      if (!same) note(i);
    }
    return differ == 0 ? "" : words(integer(e, first), integer(f, first));
  }
  for (std::int64_t i = 0; i < e.count(); ++i) {
    if (!Close(tensor::ElementAsDouble(f, i), tensor::ElementAsDouble(e, i), tolerance)) note(i);
  }
  return differ == 0 ? ""
                     : words(Cat(tensor::ElementAsDouble(e, first)),
                             Cat(tensor::ElementAsDouble(f, first)));
}

struct Sample {
  double n = 0, mean = 0, deviation = 0, least = 0, most = 0;
  bool finite = true, whole = true;
  bool varies() const { return least < most; }
};
Sample Summarise(const Value& v) {
  Sample s;
  s.n = static_cast<double>(v.count());
  for (std::int64_t i = 0; i < v.count(); ++i) {
    const double x = tensor::ElementAsDouble(v, i);
    s.finite = s.finite && std::isfinite(x);
    s.whole = s.whole && x == std::floor(x);
    s.least = i == 0 ? x : std::min(s.least, x);
    s.most = i == 0 ? x : std::max(s.most, x);
    s.mean += x / s.n;
  }
  double squares = 0;
  for (std::int64_t i = 0; i < v.count(); ++i) {
    const double d = tensor::ElementAsDouble(v, i) - s.mean;
    squares += d * d;
  }
  s.deviation = s.n > 0 ? std::sqrt(squares / s.n) : 0;
  return s;
}

std::string JudgeSample(const Value& found, const Value& expected) {
  const Sample f = Summarise(found), e = Summarise(expected);
  if (f.n == 0) return "";
  if (!f.finite) return "a value is not finite";
  if (e.whole && !f.whole) return "expected whole numbers, found others";
  if (e.varies() && !f.varies()) return Cat("expected values that vary, found ", f.mean, " alone");
  // Six standard errors: a right sample fails once in 500 million.
  const double error = 6 * std::sqrt((e.deviation * e.deviation + f.deviation * f.deviation) / e.n);
  if (std::abs(f.mean - e.mean) > error)
    return Cat("expected a mean of ", e.mean, " within ", error, ", found ", f.mean);
  const double ratio = 1 + 8 / std::sqrt(e.n);
  if (f.deviation > e.deviation * ratio || f.deviation < e.deviation / ratio)
    return Cat("expected a standard deviation of ", e.deviation, " within a factor of ", ratio,
               ", found ", f.deviation);
  // The extremes of a few draws differ far more than their means do.
  const double beyond = 0.1 * (e.most - e.least) + 6 * std::max(e.deviation, f.deviation);
  if (f.least < e.least - beyond || f.most > e.most + beyond)
    return Cat("expected values in [", e.least, ", ", e.most, "], found ", f.least, " and ",
               f.most);
  return "";
}

std::string JudgeKept(const Value& found, const Value& expected, const Tolerance& tolerance) {
  for (std::int64_t i = 0; i < expected.count(); ++i) {
    const double e = tensor::ElementAsDouble(expected, i), f = tensor::ElementAsDouble(found, i);
    if (e != 0 && f != 0 && !Close(f, e, tolerance))
      return Cat("element ", i, ": expected ", e, " or nothing, found ", f);
  }
  return "";
}

using JudgeTensors = std::function<std::string(const Value& found, const Value& expected)>;

std::string Judge(const Value& found, const Value& expected, const JudgeTensors& tensors) {
  if (found.present() != expected.present() || found.is_tensor() != expected.is_tensor() ||
      found.is_sequence() != expected.is_sequence()) {
    return Differs(found, expected);
  }
  if (!found.present()) return "";
  if (expected.is_sequence()) {
    if (found.items().size() != expected.items().size()) return Differs(found, expected);
    for (std::size_t i = 0; i < expected.items().size(); ++i) {
      const std::string why = Judge(found.items()[i], expected.items()[i], tensors);
      if (!why.empty()) return Cat("item ", static_cast<long long>(i), ": ", why);
    }
    return "";
  }
  if (expected.is_optional()) {
    const Value *f = found.optional_item(), *e = expected.optional_item();
    if ((f == nullptr) != (e == nullptr)) return Differs(found, expected);
    return e == nullptr ? "" : Judge(*f, *e, tensors);
  }
  if (found.dtype() != expected.dtype() || found.dims() != expected.dims())
    return Differs(found, expected);
  return tensors(found, expected);
}

}  // namespace

std::string JudgeValues(const Value& found, const Value& expected, const Tolerance& tolerance) {
  return Judge(found, expected,
               [&](const Value& f, const Value& e) { return JudgeElements(f, e, tolerance); });
}

std::string JudgeDistribution(const Value& found, const Value& expected, bool dropout,
                              const Tolerance& tolerance) {
  return Judge(found, expected, [&](const Value& f, const Value& e) {
    // What draws nothing agrees exactly; strings and complex numbers are never drawn.
    const std::string values = JudgeElements(f, e, tolerance);
    const bool number =
        tensor::IsFloat(e.dtype()) || tensor::IsInteger(e.dtype()) || e.dtype() == DType::kBool;
    if (values.empty() || !number) return values;
    const std::string sample = JudgeSample(f, e);
    return sample.empty() && dropout ? JudgeKept(f, e, tolerance) : sample;
  });
}

}  // namespace npukit::lab
