// What several pages show alike, made from records.
#pragma once

#include <string>
#include <vector>

#include "report/html/page.h"
#include "report/records.h"

namespace npukit::report::html {

std::string FileName(const std::string& path);  // what is after the last '/'
Tile TimeTile(std::string name, double ms, Kind kind, std::string more = "");
Tile FigureTile(std::string name, const Figure& figure, std::string more = "");
Bar UnitsBar(const format::ComputeUnits& units);
std::string CountText(std::size_t n, const std::string& noun);  // "1 operator", "2 operators"

// Runs somewhere else than the NPU although it computes something.
bool IsOffNpu(const target::Verdict& v);
// One card a reason code, the one with most operators first. Adds nothing when all is well.
void AddFindings(const std::vector<target::Verdict>& verdicts, Page& page);
Table VerdictTable(const std::vector<target::Verdict>& verdicts);

inline constexpr char kTimelineId[] = "timeline";
Timeline OpsTimeline(const std::vector<OpRow>& ops, const std::vector<target::Span>& spans,
                     double total_ms);
Table OpsTable(const std::vector<OpRow>& ops, const std::vector<target::Verdict>& verdicts);
Table RooflineStepsTable(const Roofline& r);
Table RooflineKernelsTable(const Roofline& r);

// A section of its own: every fact of the target; those in `decided` (keys) first.
void AddFacts(const Target& target, const std::vector<target::Verdict>& verdicts, Page& page);

}  // namespace npukit::report::html
