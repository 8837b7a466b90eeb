// Text as code points: decoding, and upper and lower case of the scripts that have them and are
// common (Latin, Greek, Cyrillic, Armenian, full-width), one code point for one. Pure functions
// without locale; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace npukit::ops {

inline constexpr std::int32_t kNoCodePoint = -1;  // a byte that is not UTF-8

// The code point at `*at`, which moves on: one byte where it is not UTF-8.
std::int32_t NextCodePoint(std::string_view text, std::size_t* at);
void AppendUtf8(std::int32_t code_point, std::string* out);

std::int32_t LowerOf(std::int32_t c);
std::int32_t UpperOf(std::int32_t c);

enum class Casing : std::uint8_t { kNone, kLower, kUpper };
// `turkic`: I without a dot and with one are two letters. Nullopt when `text` is not UTF-8.
std::optional<std::string> WithCase(std::string_view text, Casing casing, bool turkic);

}  // namespace npukit::ops
