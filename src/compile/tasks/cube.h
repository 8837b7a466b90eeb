// Convolutions and matrix products as blocks of the cube. Inside compile/tasks only.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "ir/graph.h"
#include "target/profile.h"

namespace npukit::compile {

struct CubeShape {
  std::int64_t m = 1, k = 1, n = 1;  // block of products per cycle, fp16
  std::int64_t cores = 1;
  bool merges_groups = false;  // groups of a convolution share a block until it is full
};
Result<CubeShape> ReadCubeShape(const target::Profile& profile);

struct CubeWork {
  double macs = 0;
  double cycles = 0;           // of the busiest core
  double weight_elements = 0;  // padded to whole blocks; 0 when the right side is no constant
};
// Of conv2d, conv_transpose2d and matmul on static types; nothing for other operators.
CubeWork CubeWorkOf(const ir::Graph& g, const ir::Node& n, const CubeShape& cube);

}  // namespace npukit::compile
