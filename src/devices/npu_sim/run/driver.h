// The simulated NPU on the run side. Opens for a profile that has an NPU.
#pragma once

#include "hal/device.h"

namespace npukit::devices::npu_sim {

const hal::DeviceDriver& Driver();

}  // namespace npukit::devices::npu_sim
