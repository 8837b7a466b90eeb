// Tiles of a blocked value through UB with elementwise steps on them.
#pragma once

#include "devices/npu_sim/lower/conv.h"

namespace npukit::devices::npu_sim {

struct VectorTiling {
  std::int64_t blocks = 1, rows = 1;
};
VectorTiling ChooseVectorTiling(const Config& config, std::int64_t blocks, std::int64_t rows,
                                const StepsPlan& steps, Overflow* overflow);
void EmitVector(Context& c, const Blocked& src, const Blocked& dst, const StepsPlan& steps,
                const VectorTiling& t);

}  // namespace npukit::devices::npu_sim
