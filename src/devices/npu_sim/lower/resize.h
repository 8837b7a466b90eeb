// Enlarging by whole factors, nearest: every row is stored as often as it repeats.
#pragma once

#include <string>

#include "devices/npu_sim/lower/context.h"

namespace npukit::devices::npu_sim {

struct ResizeShape {
  std::int64_t images = 1, height = 1, width = 1, factor_h = 1, factor_w = 1;
  std::string problem;
};
ResizeShape ResizeShapeOf(const ir::Graph& g, const ir::Node& n);

}  // namespace npukit::devices::npu_sim
