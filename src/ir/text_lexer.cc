#include "ir/text_lexer.h"

#include "base/text.h"

namespace npukit::ir {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

int HexDigit(char c) {
  if (IsDigit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

bool IsWordStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsWordPart(char c) { return IsWordStart(c) || IsDigit(c) || c == '.'; }

bool IsPlainWord(std::string_view s) {
  if (s.empty() || !IsWordStart(s[0])) return false;
  for (const char c : s) {
    if (!IsWordPart(c)) return false;
  }
  return true;
}

std::string Quote(std::string_view s) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : s) {
    const auto u = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (u < 0x20 || u == 0x7F) {
      out += "\\x";
      out += kHex[u >> 4];
      out += kHex[u & 15];
    } else {
      out += c;
    }
  }
  return out + '"';
}

Result<std::string> Unquote(std::string_view quoted) {
  std::string out;
  const std::string_view s = quoted.substr(1, quoted.size() - 2);
  for (std::size_t i = 0; i < s.size(); ++i) {
    if (s[i] != '\\') {
      out += s[i];
    } else if (i + 1 < s.size() && (s[i + 1] == '"' || s[i + 1] == '\\')) {
      out += s[++i];
    } else if (i + 3 < s.size() && s[i + 1] == 'x' && HexDigit(s[i + 2]) >= 0 &&
               HexDigit(s[i + 3]) >= 0) {
      out += static_cast<char>(HexDigit(s[i + 2]) * 16 + HexDigit(s[i + 3]));
      i += 3;
    } else {
      return DataCorrupt("an escape other than \\\", \\\\ and \\xNN");
    }
  }
  return out;
}

void Lexer::Advance(std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    if (text_[at_ + i] == '\n') {
      ++line_;
      column_ = 1;
    } else {
      ++column_;
    }
  }
  at_ += n;
}

void Lexer::SkipBlank() {
  while (at_ < text_.size()) {
    const bool comment = text_.substr(at_, 2) == "# " || text_.substr(at_, 2) == "#\n";
    if (comment) {
      const std::size_t end = text_.find('\n', at_);
      Advance((end == std::string_view::npos ? text_.size() : end) - at_);
    } else if (IsSpace(text_[at_])) {
      Advance(1);
    } else {
      return;
    }
  }
}

Result<Token> Lexer::Next() {
  SkipBlank();
  Token t;
  t.line = line_;
  t.column = column_;
  if (at_ == text_.size()) return t;
  const char c = text_[at_];
  std::size_t n = 1;
  const auto more = [&] { return at_ + n < text_.size(); };
  if (c == '%') {
    t.kind = TokenKind::kValue;
    while (more() && IsWordPart(text_[at_ + n])) ++n;
  } else if (IsWordStart(c)) {
    t.kind = TokenKind::kWord;
    while (more() && IsWordPart(text_[at_ + n])) ++n;
  } else if (IsDigit(c) || c == '-' || c == '+' || c == '.') {
    t.kind = TokenKind::kNumber;
    while (more()) {
      const char d = text_[at_ + n];
      const bool sign =
          (d == '-' || d == '+') && (text_[at_ + n - 1] == 'e' || text_[at_ + n - 1] == 'E');
      if (!IsWordPart(d) && !sign) break;
      ++n;
    }
  } else if (c == '"') {
    t.kind = TokenKind::kString;
    while (more() && text_[at_ + n] != '"' && text_[at_ + n] != '\n')
      n += text_[at_ + n] == '\\' ? 2 : 1;
    if (!more() || text_[at_ + n] != '"') {
      return DataCorrupt(
          Cat("line ", line_, ", column ", column_, ": a string without its closing quote"));
    }
    ++n;
  } else if (std::string_view("{}[]()=,:#?").find(c) != std::string_view::npos) {
    t.kind = TokenKind::kPunctuation;
  } else {
    return DataCorrupt(Cat("line ", line_, ", column ", column_, ": unexpected character '",
                           Printable(text_.substr(at_, 1)), "'"));
  }
  t.text = text_.substr(at_, n);
  if (t.kind == TokenKind::kValue) t.text.remove_prefix(1);
  Advance(n);
  return t;
}

}  // namespace npukit::ir
