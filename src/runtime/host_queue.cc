#include "runtime/host_queue.h"

#include <algorithm>
#include <cstring>

#include "base/env.h"

namespace npukit::runtime {
namespace {

class FinishedFence final : public hal::Fence {
 public:
  explicit FinishedFence(const hal::Timing& timing) : timing_(timing) {}
  Status Wait() override { return OkStatus(); }
  bool done() const override { return true; }
  hal::Timing timing() const override { return timing_; }

 private:
  hal::Timing timing_;
};

}  // namespace

hal::FencePtr DoneFence(const hal::Timing& timing) { return std::make_shared<FinishedFence>(timing); }

class HostQueue::QueueFence final : public hal::Fence {
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
  hal::Timing timing() const override {
    std::lock_guard<std::mutex> lock(mutex_);
    return timing_;
  }
  void Signal(Status status, const hal::Timing& timing) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      status_ = std::move(status);
      timing_ = timing;
      done_ = true;
    }
    changed_.notify_all();
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;   // this and the rest guarded by mutex_
  Status status_;
  hal::Timing timing_;
};

HostQueue::~HostQueue() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

hal::FencePtr HostQueue::Submit(Copy copy) {
  auto fence = std::make_shared<QueueFence>();
  {
    std::lock_guard<std::mutex> lock(mutex_);
    tasks_.push_back({.copy = std::move(copy), .fence = fence});
    if (!thread_.joinable()) thread_ = std::thread([this] { Loop(); });
  }
  wake_.notify_one();
  return fence;
}

void HostQueue::Loop() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    wake_.wait(lock, [&] { return stop_ || !tasks_.empty(); });
    if (tasks_.empty()) return;
    Task task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    Do(task);
    task = {};  // let go of the fences before sleeping
    lock.lock();
  }
}

void HostQueue::Do(const Task& task) const {
  const Copy& copy = task.copy;
  Status status;
  hal::Timing timing;
  for (const hal::FencePtr& f : copy.waits) {
    if (Status s = f->Wait(); !s.ok() && status.ok()) status = s;
    timing.start_ns = std::max(timing.start_ns, f->timing().end_ns);
  }
  if (status.ok() && copy.cancel != nullptr && copy.cancel->load(std::memory_order_relaxed)) {
    status = Status(Code::kCancelled, "cancelled");
  }
  if (!virtual_clock_) timing.start_ns = RealEnv().NowNs();
  if (status.ok() && copy.bytes > 0) std::memcpy(copy.to, copy.from, copy.bytes);
  timing.end_ns = virtual_clock_ ? timing.start_ns : RealEnv().NowNs();
  timing.kind = virtual_clock_ ? target::Kind::kModelled : target::Kind::kMeasured;
  task.fence->Signal(std::move(status), timing);
}

}  // namespace npukit::runtime
