// Opens the CPU as a device: "CPU avx512" and the like. NPUKIT_CPU_TARGET=scalar|avx2|avx512|neon
// forces the instruction set.
#pragma once

#include "hal/device.h"

namespace npukit::devices::cpu {

const hal::DeviceDriver& Driver();

}  // namespace npukit::devices::cpu
