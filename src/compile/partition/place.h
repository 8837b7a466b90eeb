// Sides for the nodes: the minimum cut, then islands that do not earn their keep are given up. And
// why, for the verdicts.
#pragma once

#include <functional>
#include <vector>

#include "compile/partition/cost.h"
#include "compile/partition/partition.h"
#include "ir/graph.h"

namespace npukit::compile {

inline constexpr int kCpuSide = 0;
inline constexpr int kNpuSide = 1;

struct Placement {
  std::vector<int> side;          // per node
  std::vector<Segment> segments;  // Segment::device is a side here
};

Placement PlaceNodes(const ir::Graph& g, const ir::Uses& uses, const Costs& costs, Goal goal);

// The time of a whole placement as its devices really lower it; infinite when one cannot.
using Judge = std::function<double(const Placement&)>;

// Single nodes are priced alone, but a segment is lowered as a whole: a layout change may cost
// nothing beside a hand-over. So the placement is compared, as lowered, with a few neighbours:
// everything on the NPU, everything on the CPU, and the first CPU islands moved over one by one.
// The fastest is kept; the given one when they are equal.
Placement Refine(const ir::Graph& g, const ir::Uses& uses, const Costs& costs, Placement placement,
                 const Judge& judge);

// For nodes the NPU could run and that stay on the CPU: what putting their island there would save,
// and what it would copy.
struct Refusal {
  double gain_ns = 0;  // CPU time minus NPU time of the island
  double copy_ns = 0;  // hand-overs it would add, less those it would spare, and the start of a
                       // segment if it is alone
  bool priced = false;
};
std::vector<Refusal> ExplainCpuIslands(const ir::Graph& g, const ir::Uses& uses, const Costs& costs,
                                       const std::vector<int>& side);

}  // namespace npukit::compile
