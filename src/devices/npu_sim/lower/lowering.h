// The simulated NPU's half on the computer: may it run an operator, at what cost, and as which
// instructions.
#pragma once

#include <memory>

#include "compile/lowering.h"

namespace npukit::devices::npu_sim {

std::shared_ptr<const compile::Lowering> MakeLowering();

}  // namespace npukit::devices::npu_sim
