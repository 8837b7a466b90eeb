#include "base/text.h"

#include <array>
#include <charconv>

namespace npukit {
namespace {

template <class T>
std::string NumberText(T v) {
  std::array<char, 40> buffer;  // the longest double is 24 characters, the longest integer 20
  const auto r = std::to_chars(buffer.data(), buffer.data() + buffer.size(), v);
  return std::string(buffer.data(), r.ptr);
}

// Length in bytes of the valid UTF-8 character at s[0], its code point in *code; 0 when there is
// none.
std::size_t DecodeUtf8(std::string_view s, std::uint32_t* code) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(s[i]); };
  const unsigned char lead = at(0);
  std::size_t length = 0;
  std::uint32_t c = 0;
  if (lead < 0x80) {
    *code = lead;
    return 1;
  } else if (lead >= 0xC2 && lead < 0xE0) {
    length = 2, c = lead & 0x1Fu;
  } else if (lead >= 0xE0 && lead < 0xF0) {
    length = 3, c = lead & 0x0Fu;
  } else if (lead >= 0xF0 && lead < 0xF5) {
    length = 4, c = lead & 0x07u;
  } else {
    return 0;
  }
  if (s.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((at(i) & 0xC0u) != 0x80u) return 0;
    c = c << 6 | (at(i) & 0x3Fu);
  }
  const bool overlong = (length == 3 && c < 0x800) || (length == 4 && c < 0x10000);
  if (overlong || c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) return 0;
  *code = c;
  return length;
}

// Characters that end a line, move the cursor or turn the direction of the text around.
bool DisturbsLine(std::uint32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x2028 || c == 0x2029 ||
         (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

}  // namespace

Piece::Piece(long long v) : own_(NumberText(v)) {}
Piece::Piece(unsigned long long v) : own_(NumberText(v)) {}
Piece::Piece(float v) : own_(NumberText(v)) {}
Piece::Piece(double v) : own_(NumberText(v)) {}

std::string CatPieces(std::initializer_list<Piece> pieces) {
  std::size_t size = 0;
  for (const Piece& p : pieces) size += p.view().size();
  std::string out;
  out.reserve(size);
  for (const Piece& p : pieces) out += p.view();
  return out;
}

std::string Join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) out += separator;
    out += parts[i];
  }
  return out;
}

std::string JoinInts(std::span<const std::int64_t> v, std::string_view separator) {
  std::string out;
  for (std::size_t i = 0; i < v.size(); ++i) {
    if (i > 0) out += separator;
    out += NumberText(v[i]);
  }
  return out;
}

std::vector<std::string> Split(std::string_view s, char separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (true) {
    const std::size_t end = s.find(separator, begin);
    if (end == std::string_view::npos) break;
    parts.emplace_back(s.substr(begin, end - begin));
    begin = end + 1;
  }
  parts.emplace_back(s.substr(begin));
  return parts;
}

bool ParseInt64(std::string_view s, std::int64_t* out) {
  const auto r = std::from_chars(s.data(), s.data() + s.size(), *out);
  return r.ec == std::errc() && r.ptr == s.data() + s.size();
}

bool ParseDouble(std::string_view s, double* out) {
  const auto r = std::from_chars(s.data(), s.data() + s.size(), *out);
  return r.ec == std::errc() && r.ptr == s.data() + s.size();
}

std::string Printable(std::string_view s, std::size_t max_bytes) {
  std::string out;
  std::size_t i = 0;
  while (i < s.size()) {
    std::uint32_t code = 0;
    const std::size_t length = DecodeUtf8(s.substr(i), &code);
    const bool keep = length > 0 && !DisturbsLine(code);
    const std::string_view next = keep ? s.substr(i, length) : std::string_view("?");
    if (out.size() + next.size() > max_bytes) return out + "...";
    out += next;
    i += length > 0 ? length : 1;
  }
  return out;
}

}  // namespace npukit
