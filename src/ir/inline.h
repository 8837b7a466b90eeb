// A body's nodes become nodes of the graph around it: a branch whose condition is known, a local
// function that is called.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace npukit::ir {

// Copies of the body's nodes in order, to be put where their owner was. They read `inputs` for the
// body's inputs and make `outputs`; where a body's result is an input, a constant or given twice,
// an identity makes it. Values, constants and source nodes are added to `g`; names get `prefix` in
// front, and what an identity came from is `from`. An absent output (kNoValue) stays out. As many
// inputs and outputs as the body has are ours to give.
std::vector<Node> CopyNodes(Graph& g, const Graph& body, std::span<const ValueId> inputs,
                            std::span<const ValueId> outputs, const std::string& prefix,
                            const std::vector<std::uint32_t>& from);

}  // namespace npukit::ir
