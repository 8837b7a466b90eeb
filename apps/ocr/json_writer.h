#pragma once
// Just enough JSON to print a report: apps may include no JSON library, and printing needs none.
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace ocr {

// Calls come in the order of the text; a Key comes before each member of an object. Bytes that are
// no UTF-8 become U+FFFD.
class JsonWriter {
 public:
  JsonWriter& Begin(char bracket);  // '{' or '['
  JsonWriter& End(char bracket);    // '}' or ']'
  JsonWriter& Key(std::string_view name);
  JsonWriter& Value(std::string_view text);
  JsonWriter& Value(const char* text) { return Value(std::string_view(text)); }
  JsonWriter& Value(double number);  // null when not finite
  JsonWriter& Value(std::integral auto number) { return Raw(std::to_string(number)); }
  JsonWriter& Value(bool truth) { return Raw(truth ? "true" : "false"); }
  JsonWriter& Null() { return Raw("null"); }
  JsonWriter& Member(std::string_view name, const auto& value) { return Key(name).Value(value); }

  const std::string& text() const { return text_; }

 private:
  JsonWriter& Raw(std::string_view token);
  void Separate();

  std::string text_;
  bool after_value_ = false;
};

}  // namespace ocr
