#include "ops/utf8.h"

namespace npukit::ops {
namespace {

// Upper case from..to. step 1: lower case lies `offset` higher. step 2: pairs, every second one is
// upper case and its lower case follows.
struct CaseRange {
  std::int32_t from, to;
  int step;
  std::int32_t offset;
};
constexpr CaseRange kCases[] = {
    {'A', 'Z', 1, 32},       {0xC0, 0xD6, 1, 32},     {0xD8, 0xDE, 1, 32},
    {0x100, 0x12E, 2, 1},    {0x132, 0x136, 2, 1},    {0x139, 0x147, 2, 1},
    {0x14A, 0x176, 2, 1},    {0x178, 0x178, 1, -121}, {0x179, 0x17D, 2, 1},
    {0x182, 0x184, 2, 1},    {0x1A0, 0x1A4, 2, 1},    {0x1AF, 0x1AF, 1, 1},
    {0x1B3, 0x1B5, 2, 1},    {0x1C4, 0x1C4, 1, 2},    {0x1C7, 0x1C7, 1, 2},
    {0x1CA, 0x1CA, 1, 2},    {0x1F1, 0x1F1, 1, 2},    {0x1CD, 0x1DB, 2, 1},
    {0x1DE, 0x1EE, 2, 1},    {0x1F8, 0x21E, 2, 1},    {0x222, 0x232, 2, 1},
    {0x386, 0x386, 1, 38},   {0x388, 0x38A, 1, 37},   {0x38C, 0x38C, 1, 64},
    {0x38E, 0x38F, 1, 63},   {0x391, 0x3A1, 1, 32},   {0x3A3, 0x3AB, 1, 32},
    {0x3D8, 0x3EE, 2, 1},    {0x400, 0x40F, 1, 80},   {0x410, 0x42F, 1, 32},
    {0x460, 0x480, 2, 1},    {0x48A, 0x4BE, 2, 1},    {0x4C0, 0x4C0, 1, 15},
    {0x4C1, 0x4CD, 2, 1},    {0x4D0, 0x52E, 2, 1},    {0x531, 0x556, 1, 48},
    {0x1E00, 0x1E94, 2, 1},  {0x1EA0, 0x1EFE, 2, 1},  {0x2160, 0x216F, 1, 16},
    {0x24B6, 0x24CF, 1, 26}, {0xFF21, 0xFF3A, 1, 32},
};
// Pairs of which one direction only holds.
constexpr std::int32_t kOnlyLower[][2] = {
    {0x130, 'i'}, {0x1E9E, 0xDF}, {0x2126, 0x3C9}, {0x212A, 'k'}, {0x212B, 0xE5}};
constexpr std::int32_t kOnlyUpper[][2] = {
    {0xB5, 0x39C}, {0x131, 'I'}, {0x17F, 'S'}, {0x3C2, 0x3A3}};

}  // namespace

std::int32_t NextCodePoint(std::string_view text, std::size_t* at) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::size_t i = (*at)++;
  const std::int32_t first = byte(i);
  if (first < 0x80) return first;
  const int more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1;
  if (first < 0xC2 || first > 0xF4 || text.size() - i <= static_cast<std::size_t>(more))
    return kNoCodePoint;
  std::int32_t c = first & (0x3F >> more);
  for (int k = 1; k <= more; ++k) {
    const std::int32_t b = byte(i + static_cast<std::size_t>(k));
    if ((b & 0xC0) != 0x80) return kNoCodePoint;
    c = (c << 6) | (b & 0x3F);
  }
  constexpr std::int32_t kLeast[] = {0, 0x80, 0x800, 0x10000};
  if (c < kLeast[more] || c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) return kNoCodePoint;
  *at = i + static_cast<std::size_t>(more) + 1;
  return c;
}

void AppendUtf8(std::int32_t c, std::string* out) {
  const auto put = [out](std::int32_t b) { out->push_back(static_cast<char>(b)); };
  if (c < 0x80) return put(c);
  if (c < 0x800) {
    put(0xC0 | (c >> 6));
  } else {
    if (c < 0x10000) {
      put(0xE0 | (c >> 12));
    } else {
      put(0xF0 | (c >> 18));
      put(0x80 | ((c >> 12) & 0x3F));
    }
    put(0x80 | ((c >> 6) & 0x3F));
  }
  put(0x80 | (c & 0x3F));
}

std::int32_t LowerOf(std::int32_t c) {
  for (const CaseRange& r : kCases) {
    if (c >= r.from && c <= r.to && (c - r.from) % r.step == 0) return c + r.offset;
  }
  for (const auto& [upper, lower] : kOnlyLower) {
    if (c == upper) return lower;
  }
  return c;
}

std::int32_t UpperOf(std::int32_t c) {
  for (const CaseRange& r : kCases) {
    const std::int32_t upper = c - r.offset;
    if (upper >= r.from && upper <= r.to && (upper - r.from) % r.step == 0) return upper;
  }
  for (const auto& [lower, upper] : kOnlyUpper) {
    if (c == lower) return upper;
  }
  return c;
}

std::optional<std::string> WithCase(std::string_view text, Casing casing, bool turkic) {
  if (casing == Casing::kNone) return std::string(text);
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::int32_t c = NextCodePoint(text, &at);
    if (c == kNoCodePoint) return std::nullopt;
    if (casing == Casing::kLower) {
      AppendUtf8(turkic && c == 'I' ? 0x131 : LowerOf(c), &out);
    } else {
      AppendUtf8(turkic && c == 'i' ? 0x130 : UpperOf(c), &out);
    }
  }
  return out;
}

}  // namespace npukit::ops
