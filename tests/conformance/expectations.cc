#include "expectations.h"

#include "base/text.h"

namespace npukit::conformance {
namespace {

std::string_view Trim(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t' || s.front() == '\r'))
    s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t' || s.back() == '\r'))
    s.remove_suffix(1);
  return s;
}

}  // namespace

Result<std::vector<Expectation>> ParseExpectations(std::string_view text) {
  std::vector<Expectation> list;
  int number = 0;
  for (const std::string& raw : Split(text, '\n')) {
    ++number;
    const std::string_view line = Trim(std::string_view(raw).substr(0, raw.find('#')));
    if (line.empty()) continue;
    const std::size_t space = line.find_first_of(" \t");
    const std::string_view word = line.substr(0, space);
    const std::size_t colon = line.find(" :");
    if ((word != "unsupported" && word != "xfail") || space == std::string_view::npos ||
        colon == std::string_view::npos) {
      return InvalidArgument(Cat(
          "line ", number, ": expected 'unsupported|xfail PATTERN : reason', found '", raw, "'"));
    }
    Expectation e;
    e.xfail = word == "xfail";
    e.pattern = Trim(line.substr(space, colon - space));
    e.reason = Trim(line.substr(colon + 2));
    if (const std::size_t at = e.pattern.find('@'); at != std::string::npos) {
      e.code = e.pattern.substr(at + 1);
      e.pattern.resize(at);
      if (e.code.empty() || e.xfail) {
        return InvalidArgument(Cat(
            "line ", number, ": '@' is for a verdict's code, and for unsupported: '", raw, "'"));
      }
    }
    e.line = number;
    if (e.pattern.empty() || e.pattern.find(' ') != std::string::npos || e.reason.empty()) {
      return InvalidArgument(
          Cat("line ", number, ": a pattern without spaces and a reason, please: '", raw, "'"));
    }
    list.push_back(std::move(e));
  }
  return list;
}

bool Matches(std::string_view pattern, std::string_view name) {
  if (pattern.empty()) return name.empty();
  if (pattern[0] == '*') {
    for (std::size_t i = 0; i <= name.size(); ++i) {
      if (Matches(pattern.substr(1), name.substr(i))) return true;
    }
    return false;
  }
  return !name.empty() && pattern[0] == name[0] && Matches(pattern.substr(1), name.substr(1));
}

Expectation* Find(std::vector<Expectation>& list, std::string_view name, std::string_view code) {
  for (Expectation& e : list) {
    if (Matches(e.pattern, name) && (e.code.empty() || e.code == code)) return &e;
  }
  return nullptr;
}

}  // namespace npukit::conformance
