// Random numbers without state: the k-th number of a seed is a function of both, so that results do
// not depend on order, threads or machine. The values differ from NumPy's. Pure.
#pragma once

#include <cstdint>

#include "ops/rules.h"

namespace npukit::ops {

// In [0, 1), a multiple of 2^-53.
double UniformAt(std::int64_t seed, std::uint64_t k);
// Standard normal; numbers 2k and 2k + 1 of the seed make it.
double NormalAt(std::int64_t seed, std::uint64_t k);

// The rules of operators that fill a tensor: the shape is input 0 (a list), the type attribute
// dtype (fp32 when absent).
Status InferFilled(InferContext& c);
// As InferFilled's attribute dtype; kUndefined when absent.
tensor::DType TypeAttr(const Attrs& attrs);

}  // namespace npukit::ops
