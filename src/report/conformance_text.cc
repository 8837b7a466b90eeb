#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "report/conformance_record.h"
#include "report/words.h"

namespace npukit::report {
namespace {

constexpr std::array<std::string_view, kCaseResults> kNames = {"pass", "fail", "unsupported",
                                                               "crash", "hang"};
constexpr std::size_t kReason = 400;

std::size_t CountIf(const Conformance& r, bool (*is)(const ConformanceCase&)) {
  return static_cast<std::size_t>(std::count_if(r.cases.begin(), r.cases.end(), is));
}

}  // namespace

std::string_view CaseResultName(CaseResult r) { return kNames[static_cast<std::size_t>(r)]; }

std::size_t Conformance::Count(CaseResult result) const {
  return static_cast<std::size_t>(
      std::count_if(cases.begin(), cases.end(),
                    [result](const ConformanceCase& c) { return c.result == result; }));
}
std::size_t Conformance::wrong_values() const {
  return CountIf(*this, [](const ConformanceCase& c) { return c.wrong_values; });
}
std::size_t Conformance::by_distribution() const {
  return CountIf(*this, [](const ConformanceCase& c) { return c.judged_by == "distribution"; });
}

bool Conformance::is_as_expected() const {
  if (Count(CaseResult::kCrash) + Count(CaseResult::kHang) != 0) return false;
  return expect.empty() ? Count(CaseResult::kPass) == cases.size() : unexpected.empty();
}

std::string ToText(const Conformance& r) {
  std::string out = fmt::format("{} suite on {}: {}\n", r.suite, Printable(r.device, 200),
                                Printable(r.data, 400));
  if (!r.target.name.empty()) out += fmt::format("  target {}\n", TargetText(r.target));
  for (const CaseResult result :
       {CaseResult::kCrash, CaseResult::kHang, CaseResult::kFail, CaseResult::kUnsupported}) {
    if (r.Count(result) == 0) continue;
    out += fmt::format("\n{}:\n", CaseResultName(result));
    for (const ConformanceCase& c : r.cases) {
      if (c.result != result) continue;
      out += fmt::format("  {}  {}{}\n", Printable(c.name, 300),
                         c.wrong_values ? "wrong values: " : "", Printable(c.reason, kReason));
    }
  }
  if (r.by_distribution() != 0) {
    out += "\njudged by type, shape and distribution, for they draw random numbers:\n";
    for (const ConformanceCase& c : r.cases) {
      if (c.judged_by == "distribution")
        out += fmt::format("  {}  {}\n", Printable(c.name, 300), CaseResultName(c.result));
    }
  }
  if (!r.unexpected.empty()) {
    out += fmt::format("\nnot as {} says:\n", Printable(r.expect, 400));
    for (const Unexpected& u : r.unexpected)
      out += fmt::format("  {}  {}\n", Printable(u.name, 300), Printable(u.why, kReason));
  }
  out += fmt::format(
      "\nPassed {} of {} ({} by distribution), failed {} ({} with wrong values), unsupported {}, "
      "crashed {}, hung {}; {:.1f} s\n",
      r.Count(CaseResult::kPass), r.cases.size(), r.by_distribution(), r.Count(CaseResult::kFail),
      r.wrong_values(), r.Count(CaseResult::kUnsupported), r.Count(CaseResult::kCrash),
      r.Count(CaseResult::kHang), r.seconds);
  if (!r.expect.empty()) {
    out += fmt::format(
        "{} cases listed in {}: {}\n", r.listed, Printable(r.expect, 400),
        r.unexpected.empty() ? "all is as it says" : fmt::format("{} differ", r.unexpected.size()));
  }
  return out;
}

}  // namespace npukit::report
