// Regular expressions in RE2's syntax, matched in time linear in the text: a program of few kinds
// of instructions, run for all alternatives at once. Only whether the whole text matches is asked,
// so groups keep nothing and laziness means nothing.
//
// Not supported, refused by name: classes of Unicode properties (\pL), single bytes (\C).
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"

namespace npukit::ops {

class Regex {
 public:
  // kInvalidArgument says what is wrong where. kResourceExhausted: too large when repetitions are
  // written out.
  static Result<Regex> Parse(std::string_view pattern);
  // At most how many instructions a character may need; errors as of Parse. Cheap.
  static Result<double> Steps(std::string_view pattern);
  bool FullMatch(std::string_view text) const;

  enum class Kind : std::uint8_t { kClass, kSplit, kJump, kAssert, kMatch };
  enum class Assert : std::uint8_t {
    kTextBegin,
    kTextEnd,
    kLineBegin,
    kLineEnd,
    kWordBoundary,
    kNoWordBoundary
  };
  struct Instruction {
    Kind kind = Kind::kMatch;
    Assert what = Assert::kTextBegin;
    std::uint32_t a = 0, b = 0;  // where to go on; of kClass: index in classes
  };
  struct Class {                                                // code points
    std::vector<std::pair<std::int32_t, std::int32_t>> ranges;  // in a Regex: in order, apart
    bool negated = false;
    bool ignores_case = false;
    bool Has(std::int32_t c) const;
  };

 private:
  std::vector<Instruction> program_;
  std::vector<Class> classes_;
};

}  // namespace npukit::ops
