#include "tensor/dtype.h"

#include <array>

namespace npukit::tensor {
namespace {

enum class Family : std::uint8_t { kNone, kFloat, kSigned, kUnsigned, kBool, kString, kComplex };

struct Row {
  std::string_view name;
  int bits;
  Family family;
};

constexpr std::array<Row, kDTypeCount> kRows = {{
    {"undefined", 0, Family::kNone},     {"fp32", 32, Family::kFloat},
    {"fp16", 16, Family::kFloat},        {"bf16", 16, Family::kFloat},
    {"fp64", 64, Family::kFloat},        {"fp8e4m3fn", 8, Family::kFloat},
    {"fp8e4m3fnuz", 8, Family::kFloat},  {"fp8e5m2", 8, Family::kFloat},
    {"fp8e5m2fnuz", 8, Family::kFloat},  {"fp4e2m1", 4, Family::kFloat},
    {"int8", 8, Family::kSigned},        {"int16", 16, Family::kSigned},
    {"int32", 32, Family::kSigned},      {"int64", 64, Family::kSigned},
    {"uint8", 8, Family::kUnsigned},     {"uint16", 16, Family::kUnsigned},
    {"uint32", 32, Family::kUnsigned},   {"uint64", 64, Family::kUnsigned},
    {"int4", 4, Family::kSigned},        {"uint4", 4, Family::kUnsigned},
    {"int2", 2, Family::kSigned},        {"uint2", 2, Family::kUnsigned},
    {"bool", 8, Family::kBool},          {"string", 0, Family::kString},
    {"complex64", 64, Family::kComplex}, {"complex128", 128, Family::kComplex},
    {"fp8e8m0", 8, Family::kFloat},
}};

// A number read from a file may be no DType at all.
const Row& RowOf(DType t) {
  const auto i = static_cast<std::size_t>(t);
  return kRows[i < kRows.size() ? i : 0];
}

}  // namespace

std::string_view DTypeName(DType t) { return RowOf(t).name; }

std::optional<DType> DTypeFromName(std::string_view name) {
  for (std::size_t i = 1; i < kRows.size(); ++i) {
    if (kRows[i].name == name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

int DTypeBits(DType t) { return RowOf(t).bits; }
bool IsFloat(DType t) { return RowOf(t).family == Family::kFloat; }
bool IsInteger(DType t) {
  return RowOf(t).family == Family::kSigned || RowOf(t).family == Family::kUnsigned;
}
bool IsSigned(DType t) {
  return RowOf(t).family == Family::kSigned || RowOf(t).family == Family::kFloat;
}

std::optional<std::uint64_t> StorageBytes(DType t, std::uint64_t count) {
  const auto bits = static_cast<std::uint64_t>(DTypeBits(t));
  if (bits == 0) return std::nullopt;
  if (bits < 8) {
    const std::uint64_t per_byte = 8 / bits;
    return count / per_byte + (count % per_byte != 0);
  }
  std::uint64_t bytes;
  if (__builtin_mul_overflow(count, bits / 8, &bytes)) return std::nullopt;
  return bytes;
}

}  // namespace npukit::tensor
