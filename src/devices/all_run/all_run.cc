#include "devices/all_run/all_run.h"

#include <iterator>
#include <string>
#include <vector>

#include "base/text.h"

// The only declaration of the drivers outside their folders: a line of devices.inc without a folder
// does not link.
namespace npukit::devices {
#define DEVICE(name)                 \
  namespace name {                   \
  const hal::DeviceDriver& Driver(); \
  }
#include "devices/devices.inc"
#undef DEVICE

std::span<const hal::DeviceDriver* const> Drivers() {
  static const hal::DeviceDriver* const drivers[] = {
#define DEVICE(name) &name::Driver(),
#include "devices/devices.inc"
#undef DEVICE
  };
  return drivers;
}

namespace {

Result<const hal::DeviceDriver*> Find(std::string_view name) {
  std::vector<std::string> names;
  for (const hal::DeviceDriver* driver : Drivers()) {
    if (driver->name == name) return driver;
    names.emplace_back(driver->name);
  }
  return NotFound(
      Cat("no device '", Printable(name), "' in this build; there is: ", Join(names, ", ")));
}

}  // namespace

Result<hal::DevicePtr> OpenDevice(std::string_view name, const hal::OpenOptions& options) {
  NPUKIT_ASSIGN_OR_RETURN(const hal::DeviceDriver* driver, Find(name));
  auto device = driver->open(options);
  if (!device.ok()) return device.status().WithContext(Cat("device ", name));
  return device;
}

Result<hal::Peaks> MeasurePeaks(std::string_view name, const hal::OpenOptions& options) {
  NPUKIT_ASSIGN_OR_RETURN(const hal::DeviceDriver* driver, Find(name));
  if (driver->measure_peaks == nullptr)
    return Unsupported(Cat("device ", name, ": no machine to measure"));
  return driver->measure_peaks(options);
}

}  // namespace npukit::devices
