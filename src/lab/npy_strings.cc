#include "lab/npy_strings.h"

#include <algorithm>
#include <cstring>

#include "base/text.h"

namespace npukit::lab {
namespace {

constexpr std::uint64_t kMaxWidth = std::uint64_t{1} << 20;

bool IsCharacter(std::uint32_t c) { return c < 0x110000 && (c < 0xD800 || c >= 0xE000); }

void AppendUtf8(std::string& out, std::uint32_t c) {
  const auto tail = [&](int shift) { out += static_cast<char>(0x80 | (c >> shift & 0x3F)); };
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0 | c >> 6);
    tail(0);
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0 | c >> 12);
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xF0 | c >> 18);
    tail(12);
    tail(6);
    tail(0);
  }
}

// False where the bytes are no UTF-8.
bool DecodeUtf8(const std::string& s, std::vector<std::uint32_t>& out) {
  for (std::size_t i = 0; i < s.size();) {
    const auto first = static_cast<unsigned char>(s[i]);
    const std::size_t n = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    if ((first >= 0x80 && first < 0xC2) || first > 0xF4 || i + n > s.size()) return false;
    std::uint32_t c = n == 1 ? first : first & (0xFFu >> (n + 1));
    for (std::size_t k = 1; k < n; ++k) {
      const auto next = static_cast<unsigned char>(s[i + k]);
      if ((next & 0xC0) != 0x80) return false;
      c = c << 6 | (next & 0x3Fu);
    }
    if (!IsCharacter(c)) return false;
    out.push_back(c);
    i += n;
  }
  return true;
}

}  // namespace

std::optional<std::uint64_t> UnicodeWidth(const std::string& descr) {
  std::int64_t width = 0;
  if (!descr.starts_with("<U") || !ParseInt64(descr.substr(2), &width) || width < 0 ||
      static_cast<std::uint64_t>(width) > kMaxWidth)
    return std::nullopt;
  return static_cast<std::uint64_t>(width);
}

Result<tensor::Value> ParseUnicode(tensor::Dims dims, std::uint64_t width,
                                   std::span<const std::byte> bytes) {
  const auto count = static_cast<std::uint64_t>(tensor::ElementCount(dims).value_or(0));
  std::vector<std::string> strings;
  for (std::uint64_t i = 0; i < count; ++i) {
    std::vector<std::uint32_t> text(width);
    if (width > 0) std::memcpy(text.data(), bytes.data() + i * width * 4, width * 4);
    while (!text.empty() && text.back() == 0) text.pop_back();
    std::string s;
    for (const std::uint32_t c : text) {
      if (!IsCharacter(c)) return DataCorrupt(Cat("string ", i, " holds ", c, ", no character"));
      AppendUtf8(s, c);
    }
    strings.push_back(std::move(s));
  }
  return tensor::Value::Strings(std::move(dims), std::move(strings));
}

Result<UnicodeArray> FormatUnicode(const tensor::Value& strings) {
  std::vector<std::vector<std::uint32_t>> texts;
  std::size_t width = 0;
  for (const std::string& s : strings.strings()) {
    std::vector<std::uint32_t>& text = texts.emplace_back();
    if (!DecodeUtf8(s, text))
      return Unsupported(Cat("string ", texts.size() - 1, " is not UTF-8, so .npy cannot hold it"));
    width = std::max(width, text.size());
  }
  if (width > kMaxWidth) return Unsupported(Cat("a string of ", width, " characters"));
  UnicodeArray out{Cat("<U", width), {}};
  out.bytes.resize(texts.size() * width * 4);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (!texts[i].empty())
      std::memcpy(out.bytes.data() + i * width * 4, texts[i].data(), texts[i].size() * 4);
  }
  return out;
}

}  // namespace npukit::lab
