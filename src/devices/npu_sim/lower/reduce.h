// Reductions over the last dimension, or over the ones just before it.
#pragma once

#include <string>

#include "devices/npu_sim/lower/conv.h"

namespace npukit::devices::npu_sim {

// images x rows x channels: over the lanes of each row, or over the rows of each image.
struct ReduceShape {
  std::int64_t images = 1, rows = 1, channels = 1;
  bool over_lanes = false;
  std::string problem;  // why it is neither; empty: it is one
};
ReduceShape ReduceShapeOf(const ir::Graph& g, const ir::Node& n);

// A tile with its fp32 work space: bytes of UB for one row of all blocks, or one block of one row.
std::int64_t LanesReduceBytes(std::int64_t blocks, std::int64_t rows);
std::int64_t SoftmaxBytes(std::int64_t blocks, std::int64_t rows);

}  // namespace npukit::devices::npu_sim
