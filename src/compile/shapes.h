// Which shapes are still open, and what to say about it. Pure functions of the graph.
#pragma once

#include "base/status.h"
#include "ir/graph.h"
#include "target/verdict.h"

namespace npukit::compile {

// kInvalidArgument naming the first input whose shape is still open, with the --shape that would
// fix it.
Status RequireStatic(const ir::Graph& g);

// A verdict of a node in the body of a loop or branch: its segments are numbered among the body's
// own, and no --shape reaches it.
void JudgeInBody(target::Verdict& v);

// True when the node's inputs and outputs are all static tensors.
bool IsStatic(const ir::Graph& g, const ir::Node& n);

}  // namespace npukit::compile
