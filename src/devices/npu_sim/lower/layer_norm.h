// Layer normalisation over the dimensions from an axis on.
#pragma once

#include <string>

#include "devices/npu_sim/lower/conv.h"

namespace npukit::devices::npu_sim {

struct LayerNormShape {
  std::int64_t rows = 1, channels = 1;
  // The dimensions from the axis on are one: the value is read and written in plain order then.
  bool merged = false;
  std::string problem;
};
LayerNormShape LayerNormShapeOf(const ir::Graph& g, const ir::Node& n);
// Rows in UB at once.
std::int64_t ChooseLayerNormRows(const Config& config, const LayerNormShape& s, Overflow* overflow);

}  // namespace npukit::devices::npu_sim
