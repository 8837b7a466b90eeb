#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "report/html/pages.h"
#include "report/html/parts.h"
#include "report/print.h"
#include "report/words.h"

namespace npukit::report::html {
namespace {

std::size_t CountOff(const std::vector<target::Verdict>& verdicts) {
  return static_cast<std::size_t>(std::count_if(verdicts.begin(), verdicts.end(), IsOffNpu));
}

}  // namespace

Page ToPage(const Check& r) {
  Page page("check", FileName(r.model), Cat("on ", TargetText(r.target)));
  const std::size_t off = CountOff(r.verdicts);
  const format::ComputeUnits& u = r.compute_units;
  if (off == 0) {
    page.Add(Answer{Tone::kGood, "Everything that computes runs on the NPU.", ""});
  } else if (u.npu == 0) {
    page.Add(Answer{Tone::kBad, "Nothing runs on the NPU.",
                    CountText(off, "operator") + " would run elsewhere: the reasons are below."});
  } else {
    page.Add(Answer{Tone::kWarn, CountText(off, "operator") + " would not run on the NPU.",
                    "The reasons are below, the most frequent first."});
  }
  page.AddCard(UnitsBar(u));
  Pairs pairs;
  pairs.lines = {{"Model", r.model}, {"Target", r.target.name}};
  for (const std::string& s : r.target.set) pairs.lines.emplace_back("Changed by --set", s);
  if (!r.shapes.empty()) pairs.lines.emplace_back("Shapes", ShapesText(r.shapes));
  pairs.lines.emplace_back("Weights",
                           fmt::format("{} in the file, {} as the device expands them",
                                       BytesText(static_cast<double>(r.bytes)),
                                       BytesText(static_cast<double>(r.restored_bytes))));
  pairs.lines.emplace_back("Size limit",
                           fmt::format("{}: {}", BytesText(static_cast<double>(r.gate_bytes)),
                                       r.passes() ? "fits" : "does not fit"));
  page.AddCard(pairs);
  if (off > 0) {
    page.Section("Not on the NPU", "One card a reason. docs/reasons.md says more about each code.");
    AddFindings(r.verdicts, page);
  }
  page.Section("Operators", "After rewriting: one row an operator that is left, or was folded.");
  page.Add(VerdictTable(r.verdicts));
  AddFacts(r.target, r.verdicts, page);
  return page;
}

}  // namespace npukit::report::html
