#include "runtime/shared_memory.h"

#include "base/text.h"
#include "hal/host_memory.h"

namespace npukit::runtime {
namespace {

constexpr std::uint64_t kAlignment = 64;

bool Has(DeviceMask mask, std::size_t device) { return (mask >> device & 1u) != 0; }

}  // namespace

Result<SharedMemory> SharedMemory::Import(std::span<const hal::DevicePtr> devices, DeviceMask mask,
                                          void* host, std::uint64_t bytes) {
  SharedMemory m;
  m.host_ = static_cast<std::byte*>(host);
  m.bytes_ = bytes;
  m.views_.resize(devices.size());
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (!Has(mask, i)) continue;
    NPUKIT_ASSIGN_OR_RETURN(m.views_[i], devices[i]->Import({.host = host, .size_bytes = bytes}));
  }
  return m;
}

Result<SharedMemory> SharedMemory::Allocate(std::span<const hal::DevicePtr> devices,
                                            DeviceMask mask, std::uint64_t bytes) {
  NPUKIT_ASSIGN_OR_RETURN(hal::BufferPtr own,
                          hal::AllocateHost({.size_bytes = bytes, .alignment = kAlignment}));
  std::byte* const own_host = own->host();
  auto memory = Import(devices, mask, own_host, bytes);
  if (memory.ok()) {
    memory->owner_ = std::move(own);
    return memory;
  }
  if (memory.status().code() != Code::kUnsupported) return memory.status();
  // Some device works on memory of its own only: let it own this, and the others import it.
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (!Has(mask, i) || devices[i]->Import({.host = own_host, .size_bytes = bytes}).ok()) continue;
    NPUKIT_ASSIGN_OR_RETURN(hal::BufferPtr buffer,
                            devices[i]->Allocate({.size_bytes = bytes, .alignment = kAlignment}));
    std::byte* const host = buffer->host();
    auto rest = Import(devices, mask & ~(DeviceMask{1} << i), host, bytes);
    if (!rest.ok()) {
      return rest.status().WithContext(
          Cat(devices[i]->info().description,
              " works on its own memory only, and another device cannot import it"));
    }
    rest->views_[i] = std::move(buffer);
    return rest;
  }
  return memory.status();
}

}  // namespace npukit::runtime
