// The CPU's side of the compiler: it runs every operator that has a reference and static types, in
// fp32 with packed weights where a kernel wants them. Pure; may be called from several threads.
#pragma once

#include <memory>

#include "compile/lowering.h"

namespace npukit::devices::cpu {

std::shared_ptr<const compile::Lowering> MakeLowering();

}  // namespace npukit::devices::cpu
