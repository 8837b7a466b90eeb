// Working memory of runs: one arena a run, used again by later runs. Arenas are as large as the
// largest plan needs, so any run can use any. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/shared_memory.h"

namespace npukit::runtime {

class ArenaPool {
 public:
  // At most this many arenas wait for reuse, and at most this many are out at once.
  static constexpr std::size_t kMaxIdle = 16;
  static constexpr std::size_t kMaxOut = 256;

  void Init(std::vector<hal::DevicePtr> devices, DeviceMask mask, std::uint64_t bytes);
  std::uint64_t bytes() const { return bytes_; }

  // kResourceExhausted: too many runs at once. kOutOfMemory.
  Result<SharedMemory> Take();
  void GiveBack(SharedMemory arena);

 private:
  std::vector<hal::DevicePtr> devices_;
  DeviceMask mask_ = 0;
  std::uint64_t bytes_ = 0;
  std::mutex mutex_;
  std::vector<SharedMemory> idle_;  // guarded by mutex_
  std::size_t out_ = 0;             // guarded by mutex_
};

}  // namespace npukit::runtime
