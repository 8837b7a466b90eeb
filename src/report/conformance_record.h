// What `conformance` answers: published operator tests, one by one.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "report/records.h"

namespace npukit::report {

enum class CaseResult {
  kPass,
  kFail,         // wrong values, or an error
  kUnsupported,  // refused: an operator, form or type that npukit says it does not have
  kCrash,
  kHang,
};
inline constexpr int kCaseResults = 5;
std::string_view CaseResultName(CaseResult r);  // "pass", "fail", ...

struct ConformanceCase {
  std::string name;  // its folder, relative to the data
  CaseResult result = CaseResult::kPass;
  bool wrong_values = false;         // of a failed one: it ran to its end, and the values differ
  std::string judged_by = "values";  // "distribution": what is drawn at random
  std::string reason;                // "" when it passed
  double seconds = 0;
};

// A case whose result the list of exceptions does not foresee.
struct Unexpected {
  std::string name;
  std::string why;
};

struct Conformance {
  std::string suite;
  std::string data;
  std::string device;  // "CPU", "reference interpreter"
  Target target;
  std::vector<ConformanceCase> cases;  // by name
  std::string expect;                  // the list's file, "" without one
  std::size_t listed = 0;              // entries of it that are about cases of this run
  std::vector<Unexpected> unexpected;
  double seconds = 0;

  std::size_t Count(CaseResult r) const;
  std::size_t wrong_values() const;
  std::size_t by_distribution() const;
  // Everything passed or, with a list, everything is as the list says; no crash and no hang.
  bool is_as_expected() const;
};

std::string ToJson(const Conformance& record);
std::string ToText(const Conformance& record);

}  // namespace npukit::report
