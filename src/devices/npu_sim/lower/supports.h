// Verdicts of the simulated NPU: by the profile's facts, and by the tiling functions that lowering
// uses.
#pragma once

#include "ir/graph.h"
#include "target/profile.h"
#include "target/verdict.h"

namespace npukit::devices::npu_sim {

target::Verdict Judge(const ir::Graph& g, const ir::Node& n, const target::Profile& profile);

}  // namespace npukit::devices::npu_sim
