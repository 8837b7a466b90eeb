// Heads and profiles as records for printing.
#pragma once

#include <cstdint>

#include "format/program.h"
#include "report/records.h"
#include "runtime/session.h"

namespace npukit::lab {

report::Target TargetOf(const target::Profile& profile);
report::Shapes ShapesOf(const format::Head& head, const format::Program& program);
report::Program Describe(const format::Head& head, const format::Program& program);
std::vector<report::Program> DescribeAll(const format::Head& head);
std::string ProgramKey(const format::Head& head,
                       const format::Program& program);  // "NPU,CPU fp16 x=1x3x48x320"

// The first operator that a strict caller would not want: "Softmax_3 (softmax) runs on CPU: ...";
// "" when all is well.
std::string OffNpu(const format::Program& program, const std::vector<std::string>& allow);

struct WeightBytes {
  std::uint64_t shared = 0;  // used by more than one executable
  std::uint64_t own = 0;
};
WeightBytes CountWeights(const format::Head& head);

// Absent for a program whose every shape was known when compiling.
std::optional<report::PlanCache> PlanCacheOf(const runtime::Account& account);

}  // namespace npukit::lab
