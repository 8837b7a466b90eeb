// A segment whose types are known only when it runs becomes a flow (blob.h): what Lower gives when
// asked for any shape.
#pragma once

#include "base/status.h"
#include "compile/lowering.h"
#include "ir/graph.h"

namespace npukit::devices::cpu {

// Fills blob and weights of `out`. kUnsupported names a node that no reference runs.
Status BuildFlow(const ir::Graph& g, compile::Lowered* out);

}  // namespace npukit::devices::cpu
