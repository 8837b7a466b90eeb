// Single elements of any dtype, as value.h declares them.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>

#include "tensor/narrow.h"
#include "tensor/value.h"

namespace npukit::tensor {
namespace {

// How a float of 16 bits or fewer spends its bits.
struct SmallFloat {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  // What lies above the largest number: kIeee infinity and NaNs; kNaN the all-ones pattern only
  // (fn); kNone nothing, so that overflow gives the largest number; kNegativeZero a NaN where -0
  // would be, and no infinity (fnuz).
  enum class Top : std::uint8_t { kIeee, kNaN, kNone, kNegativeZero } top;
};

constexpr SmallFloat Layout(DType t) {
  using Top = SmallFloat::Top;
  switch (t) {
    case DType::kF16:
      return {5, 10, 15, Top::kIeee};
    case DType::kBF16:
      return {8, 7, 127, Top::kIeee};
    case DType::kF8E4M3FN:
      return {4, 3, 7, Top::kNaN};
    case DType::kF8E4M3FNUZ:
      return {4, 3, 8, Top::kNegativeZero};
    case DType::kF8E5M2:
      return {5, 2, 15, Top::kIeee};
    case DType::kF8E5M2FNUZ:
      return {5, 2, 16, Top::kNegativeZero};
    default:
      return {2, 1, 1, Top::kNone};  // kF4E2M1
  }
}

double Decode(const SmallFloat& f, std::uint32_t bits) {
  const std::uint32_t sign = bits >> (f.exponent_bits + f.mantissa_bits);
  const std::uint32_t exponent_mask = (1u << f.exponent_bits) - 1;
  const std::uint32_t mantissa_mask = (1u << f.mantissa_bits) - 1;
  const std::uint32_t exponent = bits >> f.mantissa_bits & exponent_mask;
  const std::uint32_t mantissa = bits & mantissa_mask;
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  double v;
  if (f.top == SmallFloat::Top::kIeee && exponent == exponent_mask) {
    v = mantissa == 0 ? std::numeric_limits<double>::infinity() : kNaN;
  } else if (f.top == SmallFloat::Top::kNaN && exponent == exponent_mask &&
             mantissa == mantissa_mask) {
    v = kNaN;
  } else if (f.top == SmallFloat::Top::kNegativeZero && sign == 1 && exponent == 0 &&
             mantissa == 0) {
    return kNaN;
  } else if (exponent == 0) {
    v = std::ldexp(mantissa, 1 - f.bias - f.mantissa_bits);
  } else {
    v = std::ldexp(mantissa + (1u << f.mantissa_bits),
                   static_cast<int>(exponent) - f.bias - f.mantissa_bits);
  }
  return sign ? -v : v;
}

// Rounds once, to nearest even, from the double itself. What is too large becomes the largest
// number where `saturate`.
std::uint32_t Encode(const SmallFloat& f, double x, bool saturate = false) {
  using Top = SmallFloat::Top;
  const int sign_at = f.exponent_bits + f.mantissa_bits;
  const std::uint32_t sign = std::signbit(x) ? 1u << sign_at : 0;
  const std::uint32_t all = (1u << sign_at) - 1;  // exponent and mantissa all ones
  const std::uint32_t infinity = all ^ ((1u << f.mantissa_bits) - 1);
  if (std::isnan(x)) {
    switch (f.top) {
      case Top::kIeee:
        return sign | infinity | 1u << (f.mantissa_bits - 1);
      case Top::kNaN:
        return sign | all;
      case Top::kNegativeZero:
        return 1u << sign_at;
      case Top::kNone:
        return 0;
    }
  }
  // Patterns of positive numbers are in numeric order, so rounding up past the mantissa lands on
  // the next exponent.
  std::uint32_t largest = all;
  if (f.top == Top::kIeee) largest = infinity - 1;
  if (f.top == Top::kNaN) largest = all - 1;
  const double a = std::fabs(x);
  std::uint64_t pattern = ~std::uint64_t{0};
  if (std::isfinite(a)) {
    int exponent = 0;
    std::frexp(a, &exponent);  // a = m * 2^exponent, 0.5 <= m < 1; zero says exponent 0
    const int scale = a == 0 ? 1 - f.bias : std::max(exponent - 1, 1 - f.bias);
    // The distance between neighbours there is 2^(scale - mantissa_bits).
    const double steps = std::nearbyint(std::ldexp(a, f.mantissa_bits - scale));
    if (steps < 0x1p40 && scale + f.bias < 1 << 10) {
      pattern = static_cast<std::uint64_t>(steps) +
                (static_cast<std::uint64_t>(scale + f.bias - 1) << f.mantissa_bits);
    }
  }
  if (pattern > largest) {
    if (saturate) return sign | largest;
    switch (f.top) {
      case Top::kIeee:
        return sign | infinity;
      case Top::kNaN:
        return sign | all;
      case Top::kNegativeZero:
        return 1u << sign_at;
      case Top::kNone:
        return sign | largest;
    }
  }
  if (pattern == 0 && f.top == Top::kNegativeZero) return 0;
  return sign | static_cast<std::uint32_t>(pattern);
}

// Powers of two: the byte is the exponent plus 127, and 255 is NaN.
double DecodePower(std::uint32_t bits) {
  return bits == 255 ? std::numeric_limits<double>::quiet_NaN()
                     : std::ldexp(1.0, static_cast<int>(bits) - 127);
}

std::uint32_t EncodePower(double x, bool saturate, PowerRounding rounding) {
  if (std::isnan(x)) return 255;
  const double a = std::fabs(x);  // the type has no sign
  int exponent = 0;
  // a = m * 2^exponent, 0.5 <= m < 1. In steps of the type: m = 0.5 is a power itself.
  const double m = std::isfinite(a) ? std::frexp(a, &exponent) : 0.5;
  std::int64_t power = std::isfinite(a) ? exponent - 1 : 1 << 20;
  if (a == 0) {
    power = -(1 << 20);
  } else if (rounding == PowerRounding::kUp ? m > 0.5 : m >= 0.75) {
    power += rounding != PowerRounding::kDown;
  }
  if (power > 127) return saturate ? 254 : 255;
  if (power < -127) return saturate ? 0 : 255;
  return static_cast<std::uint32_t>(power + 127);
}

template <class T>
T Load(const Value& v, std::int64_t i) {
  T x;
  std::memcpy(&x, static_cast<const std::byte*>(v.data()) + static_cast<std::size_t>(i) * sizeof(T),
              sizeof(T));
  return x;
}

template <class T>
void Store(Value& v, std::int64_t i, T x) {
  std::memcpy(static_cast<std::byte*>(v.mutable_data()) + static_cast<std::size_t>(i) * sizeof(T),
              &x, sizeof(T));
}

// Elements of 4 or 2 bits, the first in the lowest bits of its byte.
std::uint32_t LoadPacked(const Value& v, std::int64_t i, int bits) {
  const std::int64_t per_byte = 8 / bits;
  const auto byte = Load<std::uint8_t>(v, i / per_byte);
  return byte >> (i % per_byte * bits) & ((1u << bits) - 1);
}

void StorePacked(Value& v, std::int64_t i, int bits, std::uint32_t x) {
  const std::int64_t per_byte = 8 / bits;
  const std::uint32_t mask = (1u << bits) - 1;
  const auto shift = static_cast<int>(i % per_byte) * bits;
  const std::uint32_t byte = Load<std::uint8_t>(v, i / per_byte);
  Store(v, i / per_byte,
        static_cast<std::uint8_t>((byte & ~(mask << shift)) | (x & mask) << shift));
}

std::int64_t SignExtend(std::uint32_t x, int bits) {
  return static_cast<std::int64_t>(x) - (x >> (bits - 1) ? std::int64_t{1} << bits : 0);
}

// Nearest, ties to even, into [low, high]; NaN gives 0.
template <class T>
T Saturate(double x, T low, T high) {
  if (std::isnan(x)) return 0;
  const double r = std::nearbyint(x);
  if (r <= static_cast<double>(low)) return low;
  if (r >= static_cast<double>(high))
    return high;  // 2^63 for int64's maximum: what is below it fits
  return static_cast<T>(r);
}

template <class T>
T SaturateTo(double x) {
  return Saturate<T>(x, std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
}

// An integer of any width as int64 (uint64 saturates); false for other types.
bool LoadInteger(const Value& v, std::int64_t i, std::int64_t* out) {
  switch (v.dtype()) {
    case DType::kI8:
      *out = Load<std::int8_t>(v, i);
      return true;
    case DType::kI16:
      *out = Load<std::int16_t>(v, i);
      return true;
    case DType::kI32:
      *out = Load<std::int32_t>(v, i);
      return true;
    case DType::kI64:
      *out = Load<std::int64_t>(v, i);
      return true;
    case DType::kU8:
      *out = Load<std::uint8_t>(v, i);
      return true;
    case DType::kU16:
      *out = Load<std::uint16_t>(v, i);
      return true;
    case DType::kU32:
      *out = Load<std::uint32_t>(v, i);
      return true;
    case DType::kU64:
      *out =
          static_cast<std::int64_t>(std::min<std::uint64_t>(Load<std::uint64_t>(v, i), INT64_MAX));
      return true;
    case DType::kI4:
      *out = SignExtend(LoadPacked(v, i, 4), 4);
      return true;
    case DType::kU4:
      *out = LoadPacked(v, i, 4);
      return true;
    case DType::kI2:
      *out = SignExtend(LoadPacked(v, i, 2), 2);
      return true;
    case DType::kU2:
      *out = LoadPacked(v, i, 2);
      return true;
    case DType::kBool:
      *out = Load<std::uint8_t>(v, i) != 0;
      return true;
    default:
      return false;
  }
}

void CheckIndex(const Value& v, std::int64_t i) {
  NPUKIT_CHECK(v.is_tensor() && i >= 0 && i < v.count());
}

}  // namespace

double ElementAsDouble(const Value& v, std::int64_t i) {
  CheckIndex(v, i);
  if (v.dtype() == DType::kU64) return static_cast<double>(Load<std::uint64_t>(v, i));
  std::int64_t integer = 0;
  if (LoadInteger(v, i, &integer)) return static_cast<double>(integer);
  switch (v.dtype()) {
    case DType::kF32:
      return Load<float>(v, i);
    case DType::kF64:
      return Load<double>(v, i);
    case DType::kF16:
    case DType::kBF16:
      return Decode(Layout(v.dtype()), Load<std::uint16_t>(v, i));
    case DType::kF8E4M3FN:
    case DType::kF8E4M3FNUZ:
    case DType::kF8E5M2:
    case DType::kF8E5M2FNUZ:
      return Decode(Layout(v.dtype()), Load<std::uint8_t>(v, i));
    case DType::kF4E2M1:
      return Decode(Layout(v.dtype()), LoadPacked(v, i, 4));
    case DType::kF8E8M0:
      return DecodePower(Load<std::uint8_t>(v, i));
    case DType::kComplex64:
      return Load<std::complex<float>>(v, i).real();
    case DType::kComplex128:
      return Load<std::complex<double>>(v, i).real();
    default:
      CheckFailed(__FILE__, __LINE__, "a number");
  }
}

std::int64_t ElementAsInt64(const Value& v, std::int64_t i) {
  CheckIndex(v, i);
  std::int64_t integer = 0;
  if (LoadInteger(v, i, &integer)) return integer;
  return SaturateTo<std::int64_t>(std::trunc(ElementAsDouble(v, i)));
}

void StoreDouble(Value& v, std::int64_t i, double x) {
  CheckIndex(v, i);
  switch (v.dtype()) {
    case DType::kF32:
      return Store(v, i, static_cast<float>(x));
    case DType::kF64:
      return Store(v, i, x);
    case DType::kF16:
    case DType::kBF16:
      return Store(v, i, static_cast<std::uint16_t>(Encode(Layout(v.dtype()), x)));
    case DType::kF8E4M3FN:
    case DType::kF8E4M3FNUZ:
    case DType::kF8E5M2:
    case DType::kF8E5M2FNUZ:
      return Store(v, i, static_cast<std::uint8_t>(Encode(Layout(v.dtype()), x)));
    case DType::kF4E2M1:
      return StorePacked(v, i, 4, Encode(Layout(v.dtype()), x));
    case DType::kF8E8M0:
      return StoreNarrow(v, i, x, true, PowerRounding::kNearest);
    case DType::kI8:
      return Store(v, i, SaturateTo<std::int8_t>(x));
    case DType::kI16:
      return Store(v, i, SaturateTo<std::int16_t>(x));
    case DType::kI32:
      return Store(v, i, SaturateTo<std::int32_t>(x));
    case DType::kI64:
      return Store(v, i, SaturateTo<std::int64_t>(x));
    case DType::kU8:
      return Store(v, i, SaturateTo<std::uint8_t>(x));
    case DType::kU16:
      return Store(v, i, SaturateTo<std::uint16_t>(x));
    case DType::kU32:
      return Store(v, i, SaturateTo<std::uint32_t>(x));
    case DType::kU64:
      return Store(v, i, SaturateTo<std::uint64_t>(x));
    case DType::kI4:
      return StorePacked(v, i, 4, static_cast<std::uint32_t>(Saturate<std::int32_t>(x, -8, 7)));
    case DType::kU4:
      return StorePacked(v, i, 4, Saturate<std::uint32_t>(x, 0, 15));
    case DType::kI2:
      return StorePacked(v, i, 2, static_cast<std::uint32_t>(Saturate<std::int32_t>(x, -2, 1)));
    case DType::kU2:
      return StorePacked(v, i, 2, Saturate<std::uint32_t>(x, 0, 3));
    case DType::kBool:
      return Store(v, i, static_cast<std::uint8_t>(x != 0));
    case DType::kComplex64:
      return Store(v, i, std::complex<float>(static_cast<float>(x)));
    case DType::kComplex128:
      return Store(v, i, std::complex<double>(x));
    default:
      CheckFailed(__FILE__, __LINE__, "a number");
  }
}

void StoreNarrow(Value& v, std::int64_t i, double x, bool saturate, PowerRounding rounding) {
  CheckIndex(v, i);
  NPUKIT_CHECK(DTypeBits(v.dtype()) == 8 && IsFloat(v.dtype()));
  const std::uint32_t bits = v.dtype() == DType::kF8E8M0 ? EncodePower(x, saturate, rounding)
                                                         : Encode(Layout(v.dtype()), x, saturate);
  Store(v, i, static_cast<std::uint8_t>(bits));
}

std::vector<std::int64_t> ToInt64s(const Value& v) {
  std::vector<std::int64_t> out(static_cast<std::size_t>(v.count()));
  for (std::int64_t i = 0; i < v.count(); ++i)
    out[static_cast<std::size_t>(i)] = ElementAsInt64(v, i);
  return out;
}

}  // namespace npukit::tensor
