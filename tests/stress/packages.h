// A small network with convolutions, a residual, a reduction, a matrix product and softmax, in two
// shapes, compiled for a target: "host" (CPU) or a chip's name (its simulated NPU and the CPU).
// Weights are seeded.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/status.h"

namespace npukit::stress {

Result<std::vector<std::byte>> CompilePackage(const std::string& target);

}  // namespace npukit::stress
