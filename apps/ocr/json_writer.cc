#include "json_writer.h"

#include <cmath>
#include <cstdio>

namespace ocr {
namespace {

// Length of the well-formed UTF-8 character at the start of `text`; 0 if there is none (RFC 3629:
// no overlong forms, no surrogates, nothing above U+10FFFF).
std::size_t CharacterBytes(std::string_view text) {
  auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t bytes = first >= 0xC2 && first < 0xE0   ? 2
                            : first >= 0xE0 && first < 0xF0 ? 3
                            : first >= 0xF0 && first < 0xF5 ? 4
                                                            : 0;
  if (bytes == 0 || text.size() < bytes) return 0;
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const unsigned char second = byte(1);
  if (first == 0xE0 && second < 0xA0) return 0;
  if (first == 0xED && second > 0x9F) return 0;
  if (first == 0xF0 && second < 0x90) return 0;
  if (first == 0xF4 && second > 0x8F) return 0;
  return bytes;
}

void AppendQuoted(std::string_view text, std::string* out) {
  *out += '"';
  while (!text.empty()) {
    const std::size_t bytes = CharacterBytes(text);
    const char c = text.front();
    if (bytes == 0) {
      *out += "\xEF\xBF\xBD";
    } else if (c == '"' || c == '\\') {
      *out += '\\';
      *out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
      *out += escape;
    } else {
      *out += text.substr(0, bytes);
    }
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  *out += '"';
}

}  // namespace

void JsonWriter::Separate() {
  if (after_value_) text_ += ", ";
  after_value_ = false;
}

JsonWriter& JsonWriter::Begin(char bracket) {
  Separate();
  text_ += bracket;
  return *this;
}

JsonWriter& JsonWriter::End(char bracket) {
  text_ += bracket;
  after_value_ = true;
  return *this;
}

JsonWriter& JsonWriter::Key(std::string_view name) {
  Separate();
  AppendQuoted(name, &text_);
  text_ += ": ";
  return *this;
}

JsonWriter& JsonWriter::Raw(std::string_view token) {
  Separate();
  text_ += token;
  after_value_ = true;
  return *this;
}

JsonWriter& JsonWriter::Value(std::string_view text) {
  Separate();
  AppendQuoted(text, &text_);
  after_value_ = true;
  return *this;
}

JsonWriter& JsonWriter::Value(double number) {
  if (!std::isfinite(number)) return Null();
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.7g", number);
  return Raw(digits);
}

}  // namespace ocr
