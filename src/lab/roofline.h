// What the CPU's steps reached against the roofs of the machine they ran on, for `bench --ops`. The
// arithmetic is apart from the measuring, so that it can be checked by hand.
#pragma once

#include <optional>
#include <vector>

#include "lab/open.h"
#include "report/records.h"
#include "runtime/session.h"

namespace npukit::lab {

// A step in all runs; what it took is never empty.
struct TimedStep {
  hal::StepInfo info;
  int segment = 0;
  std::vector<std::int64_t> ns;
};

// Time at the nearer roof: operations at the peak, or bytes at the memory's best rate, whichever is
// longer. The best rate is the larger of reading and copying.
report::Roofline MakeRoofline(const hal::Peaks& peaks, const std::vector<TimedStep>& steps);

// Collects the parts of accounts of one program's runs.
class StepTimes {
 public:
  void Add(const runtime::Account& account);
  const std::vector<TimedStep>& steps() const { return steps_; }

 private:
  std::vector<TimedStep> steps_;
};

}  // namespace npukit::lab
