// An operator's reference, run on values that need no place planned for them. Pure; any thread.
#pragma once

#include <span>
#include <vector>

#include "ops/op_def.h"

namespace npukit::ops {

// Results with memory of their own, or sharing an input's.
Result<std::vector<tensor::Value>> EvaluateToValues(const OpDef& def, const Attrs& attrs,
                                                    std::span<const EpilogueStep> epilogue,
                                                    std::span<const tensor::Value> inputs,
                                                    std::size_t outputs);

}  // namespace npukit::ops
