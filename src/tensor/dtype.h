// Element types, with the names ONNX gives them. The numeric values are stored in packages: append
// only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace npukit::tensor {

enum class DType : std::uint8_t {
  kUndefined = 0,
  kF32 = 1,
  kF16 = 2,
  kBF16 = 3,
  kF64 = 4,
  kF8E4M3FN = 5,
  kF8E4M3FNUZ = 6,
  kF8E5M2 = 7,
  kF8E5M2FNUZ = 8,
  kF4E2M1 = 9,
  kI8 = 10,
  kI16 = 11,
  kI32 = 12,
  kI64 = 13,
  kU8 = 14,
  kU16 = 15,
  kU32 = 16,
  kU64 = 17,
  kI4 = 18,
  kU4 = 19,
  kI2 = 20,
  kU2 = 21,
  kBool = 22,    // one byte, 0 or 1
  kString = 23,  // no fixed size: lives in Value::strings
  kComplex64 = 24,
  kComplex128 = 25,
  kF8E8M0 = 26,  // a power of two from 2^-127 to 2^127, or NaN
};
inline constexpr int kDTypeCount = 27;

// "fp32", "bf16", "fp8e4m3fn", "fp4e2m1", "int8", "uint4", "bool", "string", ...; "undefined" for
// anything else.
std::string_view DTypeName(DType t);
std::optional<DType> DTypeFromName(std::string_view name);
// Bits per element: 32 for fp32, 4 for int4 (two to a byte, low half first, as ONNX packs them), 0
// for string and undefined.
int DTypeBits(DType t);
bool IsFloat(DType t);    // any floating point, fp8 and fp4 included
bool IsInteger(DType t);  // signed or unsigned; not bool
bool IsSigned(DType t);   // a float or a signed integer
// Bytes that `count` elements take, packed types rounded up; nullopt on overflow or for string and
// undefined.
std::optional<std::uint64_t> StorageBytes(DType t, std::uint64_t count);

}  // namespace npukit::tensor
