#include "runtime/host_queue.h"

#include <algorithm>
#include <cstring>

#include "base/env.h"

namespace npukit::runtime {

HostQueue::~HostQueue() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  if (started_) pthread_join(thread_, nullptr);
}

hal::FencePtr HostQueue::Submit(Copy copy) {
  return Push({.copy = std::move(copy), .work = {}, .fence = nullptr});
}

hal::FencePtr HostQueue::Submit(WorkFn work) {
  return Push({.copy = {}, .work = std::move(work), .fence = nullptr});
}

hal::FencePtr HostQueue::Push(Task task) {
  auto fence = std::make_shared<hal::SignalFence>();
  task.fence = fence;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto entry = [](void* self) -> void* {
      static_cast<HostQueue*>(self)->Loop();
      return nullptr;
    };
    if (!started_ && pthread_create(&thread_, nullptr, entry, this) != 0) {
      fence->Signal(ResourceExhausted("no thread for the host's part of a run"), {});
      return fence;
    }
    started_ = true;
    tasks_.push_back(std::move(task));
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
    task = {};  // let go of what it holds before sleeping
    lock.lock();
  }
}

void HostQueue::Do(const Task& task) const {
  const Copy& copy = task.copy;
  Status status;
  hal::Timing timing;
  if (task.work) {
    status = task.work(&timing);
    return task.fence->Signal(std::move(status), timing);
  }
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
