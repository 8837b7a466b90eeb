// Results of operators that have several, or whose sizes depend on what the inputs hold. Used by
// the references of this folder.
#pragma once

#include <span>
#include <vector>

#include "base/status.h"
#include "ops/op_def.h"
#include "tensor/type.h"
#include "tensor/value.h"

namespace npukit::ops {

// The types that inference finds from the types of the inputs alone: the checks a reference begins
// with when its sizes cost as much to find as its values.
Result<std::vector<tensor::Type>> TypesWithoutValues(const EvalContext& c, InferFn infer,
                                                     std::size_t results);
// Memory for results of these types, strings and packed types included. Types must be static.
Result<std::vector<tensor::Value>> MakeOutputs(EvalContext& c, std::span<const tensor::Type> types);
// The same for the types that inference finds from the inputs at hand.
Result<std::vector<tensor::Value>> MakeOutputs(EvalContext& c, InferFn infer, std::size_t results);

}  // namespace npukit::ops
