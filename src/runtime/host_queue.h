// Work the runtime does itself: copies between the devices' steps, or the walk through a program
// run step by step. One thread, started by the first of them and joined by the destructor;
// everything handed in is done (or skipped, when cancelled) before that. Thread-safe.
#pragma once

#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "base/status.h"
#include "hal/device.h"
#include "hal/signal_fence.h"

namespace npukit::runtime {

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
  // Copies after `waits`; a failed wait fails the copy with its status. On the virtual clock a copy
  // takes no time: no profile says what the host's would (it is counted, and its bytes are). Its
  // fence carries kResourceExhausted when the system gives no thread.
  hal::FencePtr Submit(Copy copy);
  // Runs `work` on the thread; it says when it began and ended.
  using WorkFn = std::function<Status(hal::Timing*)>;
  hal::FencePtr Submit(WorkFn work);

 private:
  struct Task {
    Copy copy;
    WorkFn work;  // empty: the copy
    std::shared_ptr<hal::SignalFence> fence;
  };
  hal::FencePtr Push(Task task);
  void Loop();
  void Do(const Task& task) const;

  const bool virtual_clock_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Task> tasks_;  // guarded by mutex_
  bool stop_ = false;       // guarded by mutex_
  bool started_ = false;    // guarded by mutex_
  pthread_t thread_{};      // not std::thread, whose failure would throw
};

}  // namespace npukit::runtime
