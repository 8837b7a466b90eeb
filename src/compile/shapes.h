// Which shapes are still open, and what to say about it. Pure functions of the graph.
#pragma once

#include "base/status.h"
#include "ir/graph.h"

namespace npukit::compile {

// kInvalidArgument naming the first input whose shape is still open, with the --shape that would
// fix it.
Status RequireStatic(const ir::Graph& g);

// True when the node's inputs and outputs are all static tensors.
bool IsStatic(const ir::Graph& g, const ir::Node& n);

}  // namespace npukit::compile
