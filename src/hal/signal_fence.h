// The fence of a queue: somebody waits, somebody else signals, once. Any thread may do either.
#pragma once

#include <condition_variable>
#include <mutex>
#include <utility>

#include "hal/device.h"

namespace npukit::hal {

class SignalFence final : public Fence {
 public:
  Status Wait() override {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return done_; });
    return status_;
  }
  bool done() const override {
    std::lock_guard<std::mutex> lock(mutex_);
    return done_;
  }
  Timing timing() const override {
    std::lock_guard<std::mutex> lock(mutex_);
    return timing_;
  }
  void Signal(Status status, const Timing& timing) {
    std::lock_guard<std::mutex> lock(mutex_);
    NPUKIT_CHECK(!done_);
    status_ = std::move(status);
    timing_ = timing;
    done_ = true;
    changed_
        .notify_all();  // under the lock: the waiter may destroy the fence as soon as it is free
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;  // this and the rest guarded by mutex_
  Status status_;
  Timing timing_;
};

// Of work that was done before anybody asked.
inline FencePtr DoneFence(Status status, const Timing& timing) {
  auto fence = std::make_shared<SignalFence>();
  fence->Signal(std::move(status), timing);
  return fence;
}

}  // namespace npukit::hal
