// How a number becomes a float of 8 bits, where there is a choice: what ONNX's casts and
// quantisers say in attributes. StoreDouble (value.h) makes the usual one. Pure; any thread.
#pragma once

#include <cstdint>

#include "tensor/value.h"

namespace npukit::tensor {

// fp8e8m0 only: to the power of two above, below, or nearer (halfway between them: above).
enum class PowerRounding : std::uint8_t { kUp, kDown, kNearest };

// Element i of a tensor of one of the 8-bit floats. Out of range: the largest number (fp8e8m0 below
// its range: the smallest) where `saturate`, else infinity, or NaN where the type has none. NaN
// stays NaN. fp8e8m0 has no sign: the magnitude counts; 0 is below its range.
void StoreNarrow(Value& v, std::int64_t i, double x, bool saturate, PowerRounding rounding);

}  // namespace npukit::tensor
