// The null device on the run side: opens, owns memory, imports memory, loads the empty blob and
// does nothing, at once.
#pragma once

#include "hal/device.h"

namespace npukit::devices::null {

const hal::DeviceDriver& Driver();

}  // namespace npukit::devices::null
