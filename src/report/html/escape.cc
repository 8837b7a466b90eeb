#include "report/html/escape.h"

#include <fmt/format.h>

#include <cstdint>

#include "base/text.h"

namespace npukit::report::html {

std::string Escaped(std::string_view text, std::size_t max_bytes) {
  std::string out;
  for (const char c : Printable(text, max_bytes)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string Isolated(std::string_view text, std::size_t max_bytes) {
  return Cat("<bdi>", Escaped(text, max_bytes), "</bdi>");
}

std::string JsonText(std::string_view text, std::size_t max_bytes) {
  std::string out = "\"";
  for (const char c : Printable(text, max_bytes)) {
    if (c == '"' || c == '\\' || c == '<') {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;  // Printable leaves no control character
    }
  }
  return out + '"';
}

std::string Base64(std::string_view bytes) {
  static constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k)
      bits = bits << 8 | (i + k < bytes.size() ? static_cast<std::uint8_t>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k)
      out += i + k <= bytes.size() ? kLetters[bits >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

}  // namespace npukit::report::html
