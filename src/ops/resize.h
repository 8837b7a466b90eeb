// The arithmetic of resize, for kernels and lowerings: where each result comes from, said once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "ops/op_def.h"
#include "tensor/value.h"

namespace npukit::ops {

// One dimension: result i takes weight[i] of source hi[i] and 1 - weight[i] of lo[i]. Nearest:
// weight 0.
struct ResizeAxis {
  bool identity = true;
  std::vector<std::int64_t> lo, hi;
  std::vector<float> weight;
};

// One per dimension of x, in x's own order. `scales` and `sizes` are inputs 1 and 2 (absent or null
// when not given); exactly one of them holds numbers. `y` gets the sizes of the result.
Result<std::vector<ResizeAxis>> PlanResize(const Attrs& attrs, const tensor::Dims& x,
                                           const tensor::Value* scales, const tensor::Value* sizes,
                                           tensor::Dims* y);

}  // namespace npukit::ops
