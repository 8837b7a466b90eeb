// The arithmetic of slice, for kernels: which elements of each dimension, said once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "tensor/value.h"

namespace npukit::ops {

// start, start + step, ...: count of them, all inside the dimension. The step may be negative.
struct Cut {
  std::int64_t start = 0;
  std::int64_t step = 1;
  std::int64_t count = 0;
};

// One per dimension of x, which has the dims `x`. `inputs` are those of slice; the first is not
// looked at.
Result<std::vector<Cut>> PlanSlice(const tensor::Dims& x, std::span<const tensor::Value> inputs);

}  // namespace npukit::ops
