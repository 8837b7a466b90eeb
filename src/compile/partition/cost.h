// What partition weighs: the time of every node on either side, of every value's hand-over, of
// starting a segment. In nanoseconds, as the devices' models say for the profile.
#pragma once

#include <vector>

#include "compile/lowering.h"
#include "ir/graph.h"
#include "target/profile.h"

namespace npukit::compile {

struct Costs {
  std::vector<bool> npu_can;         // per node
  std::vector<double> npu_ns;        // per node; 0 where it cannot
  std::vector<double> cpu_ns;        // per node
  std::vector<double> hand_over_ns;  // per value, each way; 0 for constants
  double launch_ns = 0;              // per NPU segment
};

Costs Price(const ir::Graph& g, const std::vector<bool>& npu_can, const Lowering* npu,
            const Lowering& cpu, const target::Profile& profile);

}  // namespace npukit::compile
