// Where devices are put together on the run side: the drivers of devices.inc as a list, and opening
// one by name. Only cli/, bindings/ and tests/ may include this; the runtime gets OpenDevice as a
// function. Thread-safe: the list is constant.
#pragma once

#include <span>
#include <string_view>

#include "base/status.h"
#include "hal/device.h"

namespace npukit::devices {

// One driver per line of devices.inc, in its order.
std::span<const hal::DeviceDriver* const> Drivers();

// Opens the device called `name` ("cpu"). kNotFound: no such device in this build (lists those
// there are). kUnsupported: it is built in but absent on this machine (says why).
Result<hal::DevicePtr> OpenDevice(std::string_view name, const hal::OpenOptions& options);

// What that device's machine reaches. kUnsupported: the device has none to measure.
Result<hal::Peaks> MeasurePeaks(std::string_view name, const hal::OpenOptions& options);

}  // namespace npukit::devices
