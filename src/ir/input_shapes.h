// Open dimensions become numbers: importers and the compiler both take shapes from --shape.
#pragma once

#include <map>
#include <string>

#include "base/status.h"
#include "ir/graph.h"

namespace npukit::ir {

// Sets input shapes, gives every named size its number wherever it occurs, and infers types again.
// kInvalidArgument: no such input (lists them), wrong rank, a fixed dimension or a named size
// contradicted.
Status SetInputShapes(Graph& g, const std::map<std::string, tensor::Dims>& shapes);

}  // namespace npukit::ir
