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

Result<hal::DevicePtr> OpenDevice(std::string_view name, const hal::OpenOptions& options) {
  std::vector<std::string> names;
  for (const hal::DeviceDriver* driver : Drivers()) {
    if (driver->name != name) {
      names.emplace_back(driver->name);
      continue;
    }
    auto device = driver->open(options);
    if (!device.ok()) return device.status().WithContext(Cat("device ", name));
    return device;
  }
  return NotFound(
      Cat("no device '", Printable(name), "' in this build; there is: ", Join(names, ", ")));
}

}  // namespace npukit::devices
