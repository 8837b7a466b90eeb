// Work the runtime does itself between the devices' steps: copies. One thread, started by the first copy and joined by the
// destructor; everything handed in is done (or skipped, when cancelled) before that. Thread-safe.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/status.h"
#include "hal/device.h"

namespace npukit::runtime {

// A fence that is done from the start: where a run begins on the virtual clock.
hal::FencePtr DoneFence(const hal::Timing& timing);

class HostQueue {
 public:
  explicit HostQueue(bool virtual_clock) : virtual_clock_(virtual_clock) {}
  ~HostQueue();
  HostQueue(const HostQueue&) = delete;
  HostQueue& operator=(const HostQueue&) = delete;

  struct Copy {
    const std::byte* from = nullptr;
    std::byte* to = nullptr;
    std::size_t bytes = 0;
    std::vector<hal::FencePtr> waits;
    const std::atomic<bool>* cancel = nullptr;  // must outlive the fence
  };
  // Copies after `waits`; a failed wait fails the copy with its status. On the virtual clock a copy takes no time: no
  // profile says what the host's would (it is counted, and its bytes are).
  hal::FencePtr Submit(Copy copy);

 private:
  class QueueFence;
  struct Task {
    Copy copy;
    std::shared_ptr<QueueFence> fence;
  };
  void Loop();
  void Do(const Task& task) const;

  const bool virtual_clock_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Task> tasks_;  // guarded by mutex_
  bool stop_ = false;       // guarded by mutex_
  std::thread thread_;      // guarded by mutex_ until joined
};

}  // namespace npukit::runtime
