// Open dimensions become numbers: what --shape says is written into the graph's inputs, and types are inferred again.
// Pure functions of the graph; errors name the input.
#pragma once

#include <map>
#include <string>

#include "base/status.h"
#include "ir/graph.h"

namespace npukit::compile {

// kInvalidArgument: no such input (lists them), another rank, or a contradiction with a fixed dimension.
Status FixShapes(ir::Graph& g, const std::map<std::string, tensor::Dims>& shapes);

// kInvalidArgument naming the first input whose shape is still open, with the --shape that would fix it.
Status RequireStatic(const ir::Graph& g);

// True when the node's inputs and outputs are all static tensors.
bool IsStatic(const ir::Graph& g, const ir::Node& n);

}  // namespace npukit::compile
