#include "devices/npu_sim/run/queue.h"

#include <algorithm>
#include <utility>

#include "base/env.h"
#include "base/text.h"

namespace npukit::devices::npu_sim {

Result<std::unique_ptr<Queue>> Queue::Start(std::shared_ptr<ThreadPool> pool,
                                            std::unique_ptr<CorePool> cores, const Kernels& kernels,
                                            bool virtual_clock) {
  std::unique_ptr<Queue> q(new Queue(std::move(pool), std::move(cores), kernels, virtual_clock));
  const auto entry = [](void* self) -> void* {
    static_cast<Queue*>(self)->Loop();
    return nullptr;
  };
  if (pthread_create(&q->thread_, nullptr, entry, q.get()) != 0) {
    return ResourceExhausted("npu_sim: the system gives no thread for the queue");
  }
  q->started_ = true;
  return q;
}

Queue::~Queue() {
  if (!started_) return;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  pthread_join(thread_, nullptr);
}

void Queue::Push(Job job) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    jobs_.push_back(std::move(job));
  }
  changed_.notify_one();
}

hal::Telemetry Queue::Sample() const {
  hal::Telemetry t;
  t.busy_ns = busy_ns_.load(std::memory_order_relaxed);
  t.works = works_.load(std::memory_order_relaxed);
  return t;
}

void Queue::Loop() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stop_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    Do(job);
    lock.lock();
  }
}

void Queue::Do(Job& job) {
  Status status;
  std::int64_t ready_ns = virtual_now_ns_;
  for (const hal::FencePtr& f : job.waits) {
    const Status s =
        f->Wait();  // all of them: a buffer must not be touched while another still works on it
    if (!s.ok() && status.ok()) status = s;
    if (virtual_clock_) ready_ns = std::max(ready_ns, f->timing().end_ns);
  }
  const std::int64_t begin = RealEnv().NowNs();
  const std::int64_t now = virtual_clock_ ? ready_ns : begin;
  if (status.ok() && job.deadline_ns != 0 && now > job.deadline_ns) {
    status = Status(Code::kDeadlineExceeded,
                    Cat("npu_sim: ", (now - job.deadline_ns) / 1000, " us late before the start"));
  }
  const bool runs = status.ok();
  if (runs)
    status = job.executable->Run(std::move(job.dram), *cores_, kernels_, *pool_, job.cancel);
  const std::int64_t end = RealEnv().NowNs();
  works_.fetch_add(1, std::memory_order_relaxed);
  const target::Estimate& e = job.executable->estimate();
  hal::Timing t;
  if (virtual_clock_) {
    t.start_ns = ready_ns;
    t.end_ns = ready_ns + (runs ? static_cast<std::int64_t>(e.time_ns) : 0);
    t.kind = e.kind;
    virtual_now_ns_ = t.end_ns;
  } else {
    t.start_ns = begin;
    t.end_ns = end;
    t.kind = target::Kind::kMeasured;  // of the simulation, as the real clock sees it
  }
  busy_ns_.fetch_add(t.end_ns - t.start_ns, std::memory_order_relaxed);
  if (runs) t.energy_pj = e.total_energy_pj();
  t.energy_kind = e.kind;
  // Whoever waits may free the buffers' owner at once: let go of them first.
  const std::shared_ptr<hal::SignalFence> fence = std::move(job.fence);
  job = Job();
  fence->Signal(std::move(status), t);
}

}  // namespace npukit::devices::npu_sim
