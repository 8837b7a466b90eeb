// fp16 and bf16 as bit patterns, converted to and from fp32 by integer arithmetic: the same bits on
// every machine. Rounding is to nearest, ties to even; overflow gives infinity; subnormals are
// kept; NaN stays a quiet NaN.
#pragma once

#include <bit>
#include <cstdint>

namespace npukit::tensor {

inline float HalfToFloat(std::uint16_t h) {
  const std::uint32_t sign = static_cast<std::uint32_t>(h & 0x8000u) << 16;
  const std::uint32_t exp = (h >> 10) & 0x1Fu;
  const std::uint32_t man = h & 0x3FFu;
  if (exp == 0x1F)
    return std::bit_cast<float>(sign | 0x7F800000u | (man << 13) | (man ? 0x400000u : 0u));
  if (exp != 0) return std::bit_cast<float>(sign | ((exp + 112u) << 23) | (man << 13));
  const float v = static_cast<float>(man) * 0x1p-24f;  // zero or subnormal: exact
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(v));
}

inline std::uint16_t FloatToHalf(float f) {
  const std::uint32_t x = std::bit_cast<std::uint32_t>(f);
  const std::uint16_t sign = static_cast<std::uint16_t>((x >> 16) & 0x8000u);
  const std::uint32_t a = x & 0x7FFFFFFFu;
  if (a > 0x7F800000u)
    return static_cast<std::uint16_t>(sign | 0x7E00u | ((a >> 13) & 0x1FFu));  // NaN, quiet
  if (a >= 0x477FF000u)
    return static_cast<std::uint16_t>(sign | 0x7C00u);  // >= 65520 rounds to infinity
  if (a < 0x38800000u) {  // below 2^-14: subnormal or zero; adding 0.5 leaves the rounded mantissa
                          // in the low bits
    const float r = std::bit_cast<float>(a) + 0.5f;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(r) - 0x3F000000u));
  }
  const std::uint32_t r = a + 0xFFFu + ((a >> 13) & 1u) - (112u << 23);
  return static_cast<std::uint16_t>(sign | (r >> 13));
}

// The nearest fp16 value, as fp32.
inline float RoundToHalf(float f) { return HalfToFloat(FloatToHalf(f)); }

inline float BFloat16ToFloat(std::uint16_t b) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(b) << 16);
}

inline std::uint16_t FloatToBFloat16(float f) {
  const std::uint32_t x = std::bit_cast<std::uint32_t>(f);
  if ((x & 0x7FFFFFFFu) > 0x7F800000u) return static_cast<std::uint16_t>((x >> 16) | 0x40u);
  return static_cast<std::uint16_t>((x + 0x7FFFu + ((x >> 16) & 1u)) >> 16);
}

}  // namespace npukit::tensor
