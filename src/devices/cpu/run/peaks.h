// What this machine reaches with an instruction set and a pool of threads: the roofs of
// `bench --ops`. Measured, the best of a few tries each: what else the machine does only ever takes
// away. About 0.2 s, and kPeakBytes of memory meanwhile.
#pragma once

#include "base/status.h"
#include "base/thread_pool.h"
#include "devices/cpu/run/kernels/kernels.h"
#include "hal/device.h"

namespace npukit::devices::cpu {

inline constexpr std::int64_t kPeakBytes = std::int64_t{128} << 20;  // no cache holds it

// kOutOfMemory: kPeakBytes are not to be had.
Result<hal::Peaks> MeasurePeaks(const Kernels& kernels, ThreadPool& pool);

}  // namespace npukit::devices::cpu
