// What a blob costs on a profile: pure functions, asked by lower (to place and tile) and by run (to
// say how long it would have taken). The null device does nothing, in no time.
#pragma once

#include "target/estimate.h"
#include "target/profile.h"

namespace npukit::devices::null {

inline target::Estimate CostOfNothing(const target::Profile&) { return {}; }

}  // namespace npukit::devices::null
