#include "devices/all_lower/all_lower.h"

#include <memory>

// The only declaration of the lowerings outside their folders: a line of devices.inc without a
// folder does not link.
namespace npukit::devices {
#define DEVICE(name)                                       \
  namespace name {                                         \
  std::shared_ptr<const compile::Lowering> MakeLowering(); \
  }
#include "devices/devices.inc"
#undef DEVICE

compile::LoweringList MakeLowerings() {
  return {
#define DEVICE(name) name::MakeLowering(),
#include "devices/devices.inc"
#undef DEVICE
  };
}

}  // namespace npukit::devices
