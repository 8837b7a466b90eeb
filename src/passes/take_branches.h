// An if_else whose condition is a constant gives way to the nodes of the branch it takes.
#pragma once

#include "ir/graph.h"

namespace npukit::passes {

// How many were taken. Types are inferred again where there were any. What the taken branches
// decide in turn may be known only after folding them.
Result<int> TakeBranches(ir::Graph& g);

}  // namespace npukit::passes
