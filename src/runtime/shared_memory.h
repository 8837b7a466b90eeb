// One stretch of memory that several devices see at the same place: arenas, user buffers, staging.
// A value; copies share it. Any thread may use it; nobody may write while another reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/status.h"
#include "hal/device.h"

namespace npukit::runtime {

// Which of a session's devices: bit i is device i.
using DeviceMask = std::uint32_t;
inline constexpr std::size_t kMaxDevices = 32;

class SharedMemory {
 public:
  SharedMemory() = default;

  // The caller's memory, who keeps it alive. kUnsupported: one of the devices cannot work on it in
  // place.
  static Result<SharedMemory> Import(std::span<const hal::DevicePtr> devices, DeviceMask mask,
                                     void* host, std::uint64_t bytes);
  // Memory of its own, 64-byte aligned: the host's, or that of the one device that cannot import.
  // kUnsupported: two devices that cannot (names them). kOutOfMemory.
  static Result<SharedMemory> Allocate(std::span<const hal::DevicePtr> devices, DeviceMask mask,
                                       std::uint64_t bytes);

  bool valid() const { return host_ != nullptr; }
  std::byte* host() const { return host_; }
  std::uint64_t bytes() const { return bytes_; }
  const hal::BufferPtr& on(std::size_t device) const {
    return views_[device];
  }  // device must be in the mask

 private:
  std::byte* host_ = nullptr;
  std::uint64_t bytes_ = 0;
  hal::BufferPtr owner_;               // of memory of its own
  std::vector<hal::BufferPtr> views_;  // by device index; null outside the mask
};

}  // namespace npukit::runtime
