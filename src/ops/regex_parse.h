// The tree of a regular expression. For regex.cc and regex_parse.cc alone.
#pragma once

#include <memory>

#include "ops/regex.h"

namespace npukit::ops {

struct RegexNode {
  enum class Kind : std::uint8_t { kEmpty, kClass, kAssert, kSequence, kEither, kRepeat };
  Kind kind = Kind::kEmpty;
  Regex::Class chars;                            // kClass
  Regex::Assert what = Regex::Assert::kTextEnd;  // kAssert
  std::vector<RegexNode> items;                  // kSequence, kEither; the one of kRepeat
  int least = 0, most = 0;                       // kRepeat; most -1: any number
};

Result<RegexNode> ParseRegex(std::string_view pattern);

}  // namespace npukit::ops
