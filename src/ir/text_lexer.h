// Graph text as tokens. Used by text_parse.cc alone. Tokens are views into the text, which must
// outlive them.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace npukit::ir {

enum class TokenKind { kEnd, kWord, kValue, kNumber, kString, kPunctuation };

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string_view
      text;  // kValue: without %; kString: with quotes and escapes; kNumber: as written
  int line = 1;
  int column = 1;
};

// Words are [A-Za-z_][A-Za-z0-9_.]*, values %[A-Za-z0-9_.]+, numbers whatever starts with a digit,
// a sign or a dot; `#` starts a comment only at the beginning of a line or after a space and before
// a space ("#3" is punctuation and a number).
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}
  Result<Token> Next();

 private:
  void SkipBlank();
  void Advance(std::size_t n);
  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
  int column_ = 1;
};

bool IsWordStart(char c);
bool IsWordPart(char c);
bool IsPlainWord(std::string_view s);  // may be written without quotes
std::string Quote(std::string_view s);
// Undoes Quote; `quoted` is a kString token's text.
Result<std::string> Unquote(std::string_view quoted);

}  // namespace npukit::ir
