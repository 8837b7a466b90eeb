// Where devices are put together on the compiler's side: the lowerings of devices.inc, to be passed
// to compile::Compile. Only cli/, bindings/ and tests/ may include this.
#pragma once

#include "compile/lowering.h"

namespace npukit::devices {

// One lowering per line of devices.inc, in its order. They keep no state: share or make anew as you
// like.
compile::LoweringList MakeLowerings();

}  // namespace npukit::devices
