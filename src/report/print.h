// Records as JSON (one object, ordered keys, schema_version and tool first) and as aligned text for
// a terminal.
#pragma once

#include <string>

#include "report/records.h"

namespace npukit::report {

struct Tool {
  std::string name, version, git;
};
const Tool& ThisTool();
std::string ToolText();  // "npukit 0.1.0 (1a2b3c4)"

#define NPUKIT_RECORD(type)               \
  std::string ToJson(const type& record); \
  std::string ToText(const type& record);
NPUKIT_RECORD(Check)
NPUKIT_RECORD(Compile)
NPUKIT_RECORD(Run)
NPUKIT_RECORD(Bench)
NPUKIT_RECORD(Explain)
NPUKIT_RECORD(Compare)
NPUKIT_RECORD(Info)
NPUKIT_RECORD(Targets)
NPUKIT_RECORD(TargetShow)
#undef NPUKIT_RECORD

// "Compute units: NPU (292), GPU (0), CPU (21), folded (14) | Total (327)"
std::string ComputeUnitsLine(const format::ComputeUnits& units);
std::string ShapesText(const Shapes& shapes);      // "x=1x3x48x320"
std::string BytesText(double bytes);               // "4.5 MB"
std::string FigureText(const Figure& f);           // "12.3 ms (modelled)"
std::string FactText(const target::FactValue& v);  // "1048576", "[1, 2]"

}  // namespace npukit::report
