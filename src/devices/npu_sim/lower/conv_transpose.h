// A transposed convolution as one matrix product per kernel tap.
#pragma once

#include <string>

#include "devices/npu_sim/lower/conv.h"

namespace npukit::devices::npu_sim {

// Geometry of a single tap; `problem` says why the taps overlap or leave gaps, if they do.
Result<ConvGeometry> TapGeometry(const ir::Graph& g, const ir::Node& n, std::string* problem);

}  // namespace npukit::devices::npu_sim
