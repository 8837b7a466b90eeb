#include "runtime/arena_pool.h"

#include "base/check.h"
#include "base/text.h"

namespace npukit::runtime {

void ArenaPool::Init(std::vector<hal::DevicePtr> devices, DeviceMask mask, std::uint64_t bytes) {
  devices_ = std::move(devices);
  mask_ = mask;
  bytes_ = bytes;
}

Result<SharedMemory> ArenaPool::Take() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (out_ >= kMaxOut) {
      return ResourceExhausted(
          Cat("more than ", kMaxOut, " runs at once in one session: wait for some of them first"));
    }
    ++out_;
    if (!idle_.empty()) {
      SharedMemory arena = std::move(idle_.back());
      idle_.pop_back();
      return arena;
    }
  }
  auto arena = SharedMemory::Allocate(devices_, mask_, bytes_);
  if (!arena.ok()) {
    std::lock_guard<std::mutex> lock(mutex_);
    --out_;
  }
  return arena;
}

void ArenaPool::GiveBack(SharedMemory arena) {
  std::lock_guard<std::mutex> lock(mutex_);
  NPUKIT_CHECK(out_ > 0);
  --out_;
  if (idle_.size() < kMaxIdle) idle_.push_back(std::move(arena));
}

}  // namespace npukit::runtime
