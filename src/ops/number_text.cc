#include "ops/number_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/text.h"
#include "ops/rules.h"

namespace npukit::ops {

using tensor::DType;
using tensor::Value;

namespace {

bool SameLetters(std::string_view a, std::string_view lower) {
  return std::equal(a.begin(), a.end(), lower.begin(), lower.end(), [](char x, char y) {
    return (x >= 'A' && x <= 'Z' ? static_cast<char>(x - 'A' + 'a') : x) == y;
  });
}

// Digits and exponent of d.ddde+xx, laid out as numpy does for fp64: plain from 1e-4 to 1e16.
std::string LaidOut(std::string_view scientific) {
  std::string s;
  if (scientific.starts_with('-')) {
    s = "-";
    scientific.remove_prefix(1);
  }
  const std::size_t e = scientific.find('e');
  std::string digits;
  for (const char ch : scientific.substr(0, e)) {
    if (ch != '.') digits += ch;
  }
  while (digits.size() > 1 && digits.back() == '0') digits.pop_back();
  std::int64_t power = 0;
  std::string_view exponent = scientific.substr(e + 1);
  if (exponent.starts_with('+')) exponent.remove_prefix(1);
  NPUKIT_CHECK(ParseInt64(exponent, &power));
  const auto n = static_cast<std::int64_t>(digits.size());
  if (power < -4 || power >= 16) {
    s += digits.substr(0, 1);
    if (n > 1) s += Cat(".", digits.substr(1));
    const std::int64_t size = power < 0 ? -power : power;
    return Cat(s, power < 0 ? "e-" : "e+", size < 10 ? "0" : "", size);
  }
  if (power < 0)
    return Cat(s, "0.", std::string(static_cast<std::size_t>(-power - 1), '0'), digits);
  if (n <= power + 1)
    return Cat(s, digits, std::string(static_cast<std::size_t>(power + 1 - n), '0'), ".0");
  const auto point = static_cast<std::size_t>(power + 1);
  return Cat(s, digits.substr(0, point), ".", digits.substr(point));
}

std::string FloatText(const Value& v, std::int64_t i) {
  const double x = Load(v, i);
  if (std::isnan(x)) return "NaN";
  if (std::isinf(x)) return x > 0 ? "INF" : "-INF";
  char text[40];
  constexpr auto kForm = std::chars_format::scientific;
  std::to_chars_result end{};
  if (v.dtype() == DType::kF32) {
    end = std::to_chars(text, text + sizeof(text), static_cast<float>(x), kForm);
  } else if (v.dtype() == DType::kF64) {
    end = std::to_chars(text, text + sizeof(text), x, kForm);
  } else {  // narrower types have no printer: the first length that reads back as the same
    auto back = Value::Allocate(v.dtype(), {1});
    NPUKIT_CHECK(back.ok());
    for (int places = 0; places < 18; ++places) {
      end = std::to_chars(text, text + sizeof(text), x, kForm, places);
      double read = 0;
      NPUKIT_CHECK(ParseDouble({text, static_cast<std::size_t>(end.ptr - text)}, &read));
      Store(*back, 0, read);
      if (Load(*back, 0) == x) break;
    }
  }
  return LaidOut({text, static_cast<std::size_t>(end.ptr - text)});
}

}  // namespace

std::optional<ParsedNumber> ParseNumber(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return std::nullopt;
  text = text.substr(first, text.find_last_not_of(kBlank) - first + 1);
  if (text == "True" || text == "False")
    return ParsedNumber{text == "True" ? 1.0 : 0.0, true, text == "True" ? 1u : 0u};
  if (text.starts_with('+') && text.size() > 1 && text[1] != '-' && text[1] != '+')
    text.remove_prefix(1);
  const bool minus = text.starts_with('-');
  const std::string_view size = minus ? text.substr(1) : text;
  const auto is_digit = [](char ch) { return ch >= '0' && ch <= '9'; };
  if (SameLetters(size, "inf") || SameLetters(size, "infinity"))
    return ParsedNumber{.value = minus ? -HUGE_VAL : HUGE_VAL};
  if (SameLetters(size, "nan")) return ParsedNumber{.value = std::nan("")};
  ParsedNumber out;
  if (!size.empty() && std::all_of(size.begin(), size.end(), is_digit)) {
    const auto [end, error] = std::from_chars(size.data(), size.data() + size.size(), out.bits);
    const bool fits = error == std::errc() && (!minus || out.bits <= std::uint64_t{1} << 63);
    out.whole = fits && end == size.data() + size.size();
    if (minus) out.bits = 0 - out.bits;
  }
  // Letters are those of an exponent: no "0x10", no "infinite".
  const bool plain = std::all_of(size.begin(), size.end(), [&](char ch) {
    return is_digit(ch) || ch == '.' || ch == 'e' || ch == 'E' || ch == '+' || ch == '-';
  });
  if (!plain || !ParseDouble(text, &out.value)) return std::nullopt;
  return out;
}

std::string NumberText(const Value& v, std::int64_t i) {
  if (tensor::IsFloat(v.dtype())) return FloatText(v, i);
  const std::uint64_t bits = LoadBits(v, i);
  if (v.dtype() == DType::kBool) return bits != 0 ? "True" : "False";
  return tensor::IsSigned(v.dtype()) ? Cat(static_cast<long long>(bits))
                                     : Cat(static_cast<unsigned long long>(bits));
}

}  // namespace npukit::ops
