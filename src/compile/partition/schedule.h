// From "which device" to "in which order": as many nodes of one device as are ready make a segment,
// then the other device has its turn. So a segment reads only earlier segments, whatever the
// assignment.
#pragma once

#include <vector>

#include "compile/partition/partition.h"
#include "ir/graph.h"

namespace npukit::compile {

// `device[i]` of node i is 0 <= device < devices. Of the possible first devices, the one that gives
// the fewest segments.
std::vector<Segment> Schedule(const ir::Graph& g, const ir::Uses& uses,
                              const std::vector<int>& device, int devices);

}  // namespace npukit::compile
