// A segment as a graph of its own, for Lowering::Lower.
#pragma once

#include <vector>

#include "base/status.h"
#include "ir/graph.h"

namespace npukit::compile {

struct Subgraph {
  ir::Graph graph;
  std::vector<ir::ValueId> inputs;   // ids in the whole graph, in the order of graph.inputs
  std::vector<ir::ValueId> outputs;  // likewise
};

// `nodes` in an order of execution. Constants come along (their bytes are shared); outputs are the
// values that somebody outside reads or that the whole graph gives out. `inside` is scratch, one
// per node, all false before and after.
Subgraph CutOut(const ir::Graph& g, const ir::Uses& uses, const std::vector<std::uint32_t>& nodes,
                std::vector<bool>& inside);

}  // namespace npukit::compile
