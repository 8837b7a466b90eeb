// What the null device offers the compiler: it refuses every operator. Copy this folder to start a
// device.
#pragma once

#include <memory>

#include "compile/lowering.h"

namespace npukit::devices::null {

// Keeps no state; any thread.
std::shared_ptr<const compile::Lowering> MakeLowering();

}  // namespace npukit::devices::null
