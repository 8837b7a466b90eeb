// Reductions: over the last dimension (lanes), over a run of other ones (rows), or over both.
#pragma once

#include <string>

#include "devices/npu_sim/lower/conv.h"

namespace npukit::devices::npu_sim {

// lead x reduced x inner rows of channels; what is reduced are the middle rows, and the lanes too
// when over_lanes.
struct ReduceShape {
  std::int64_t lead = 1, reduced = 1, inner = 1, channels = 1;
  bool over_lanes = false;
  std::int64_t blocks() const { return CeilDiv(channels, kLanes); }
  std::int64_t count() const { return reduced * (over_lanes ? channels : 1); }
  std::string problem;  // why it is none of these; empty: it is one
};
ReduceShape ReduceShapeOf(const ir::Graph& g, const ir::Node& n);

// How much is in UB at once: inner rows, and reduced rows of each; blocks of channels, all of them
// when lanes are reduced.
struct ReduceTiling {
  std::int64_t blocks = 1, inner = 1, reduced = 1;
};
ReduceTiling ChooseReduceTiling(const Config& config, const ReduceShape& s, Overflow* overflow);

}  // namespace npukit::devices::npu_sim
