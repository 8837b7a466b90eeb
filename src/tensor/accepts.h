// Does a value go where a type with open sizes is declared? Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "tensor/type.h"

namespace npukit::tensor {

// What named sizes are so far: equal names are equal sizes, across all inputs of one run.
using Symbols = std::map<std::string, std::int64_t>;

// `declared` may have open sizes, no rank or no element type; `found` is a value's type. Names that
// are met for the first time are added to `symbols`.
bool Accepts(const Type& declared, const Type& found, Symbols& symbols);

}  // namespace npukit::tensor
