// Chains of tasks become one: what one task leaves for the next stays in L1 and never touches DRAM,
// the next one's weights come while the one before still works, and only one dispatch is paid. The
// model decides where that is faster.
#pragma once

#include <cstdint>
#include <vector>

#include "devices/npu_sim/blob/blob.h"
#include "devices/npu_sim/lower/config.h"

namespace npukit::devices::npu_sim {

// Rewrites `program` (workspace places still name buffers by index, of `buffer_bytes`). Values stay
// exactly what they were.
void FuseChains(const Config& config, const std::vector<std::int64_t>& buffer_bytes,
                npu::Program& program);

}  // namespace npukit::devices::npu_sim
