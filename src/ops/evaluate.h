// An operator's reference, run on values that need no place planned for them. Pure; any thread.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "ops/op_def.h"

namespace npukit::ops {

// Results with memory of their own, or sharing an input's.
Result<std::vector<tensor::Value>> EvaluateToValues(const OpDef& def, const Attrs& attrs,
                                                    std::span<const EpilogueStep> epilogue,
                                                    std::span<const tensor::Value> inputs,
                                                    std::size_t outputs);

// Stands for a value of which only the dims are read (LoopShape::kShape): no bytes are behind it,
// and its element type means nothing. nullopt: not a tensor of known sizes, or of more elements
// than can be counted.
std::optional<tensor::Value> OnlyDims(const tensor::Type& t);

}  // namespace npukit::ops
