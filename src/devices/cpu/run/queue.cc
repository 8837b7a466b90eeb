#include "devices/cpu/run/queue.h"

#include <algorithm>

#include "base/env.h"
#include "base/text.h"

namespace npukit::devices::cpu {
namespace {

// How long an idle thread looks before it sleeps: waking a sleeper costs tens of microseconds, more
// than a small network's steps, and a device nobody uses costs nothing soon after.
constexpr std::int64_t kSpinNs = 50'000;

template <class F>
bool SpinUntil(const F& done) {
  const std::int64_t end = RealEnv().NowNs() + kSpinNs;
  do {
    for (int i = 0; i < 64; ++i) {
      if (done()) return true;
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
  } while (RealEnv().NowNs() < end);
  return done();
}

}  // namespace

Result<std::unique_ptr<Queue>> Queue::Start(std::shared_ptr<ThreadPool> pool, bool virtual_clock) {
  std::unique_ptr<Queue> q(new Queue(std::move(pool), virtual_clock));
  const auto entry = [](void* self) -> void* {
    static_cast<Queue*>(self)->Loop();
    return nullptr;
  };
  if (pthread_create(&q->thread_, nullptr, entry, q.get()) != 0)
    return ResourceExhausted("cpu: no thread for the queue");
  q->started_ = true;
  return q;
}

Queue::~Queue() {
  if (!started_) return;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
    news_.fetch_add(1, std::memory_order_release);
  }
  cv_.notify_all();
  pthread_join(thread_, nullptr);
}

void Queue::Push(Job job) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    jobs_.push_back(std::move(job));
    news_.fetch_add(1, std::memory_order_release);
  }
  cv_.notify_one();
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
    if (!jobs_.empty()) {
      Job job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      Do(job);
      job = Job();  // lets go of buffers outside the lock
      lock.lock();
      continue;
    }
    if (stop_) return;
    const std::uint32_t seen =
        news_.load(std::memory_order_relaxed);  // changes only under the mutex
    lock.unlock();
    const bool changed = SpinUntil([&] { return news_.load(std::memory_order_acquire) != seen; });
    lock.lock();
    if (!changed) cv_.wait(lock, [&] { return stop_ || !jobs_.empty(); });
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
  if (status.ok() && !virtual_clock_ && job.deadline_ns != 0 && begin > job.deadline_ns) {
    status = Status(Code::kDeadlineExceeded,
                    Cat("cpu: ", (begin - job.deadline_ns) / 1000, " us late before the start"));
  }
  target::Estimate e;
  if (status.ok() && job.flow != nullptr) {
    status = DoFlow(job, &e);
  } else if (status.ok()) {
    status = DoSteps(job);
    e = job.executable->estimate();
  }
  const std::int64_t end = RealEnv().NowNs();
  busy_ns_.fetch_add(end - begin, std::memory_order_relaxed);
  works_.fetch_add(1, std::memory_order_relaxed);
  hal::Timing t{.start_ns = begin,
                .end_ns = end,
                .kind = target::Kind::kMeasured,
                .energy_pj = std::nullopt,
                .energy_kind = target::Kind::kModelled};
  if (virtual_clock_) {
    t.start_ns = ready_ns;
    t.end_ns = ready_ns + static_cast<std::int64_t>(e.time_ns);
    t.kind = e.kind;
    virtual_now_ns_ = t.end_ns;
  }
  t.energy_pj = e.total_energy_pj();
  t.energy_kind = e.kind;
  // Whoever waits may free the buffers' owner at once: let go of them first.
  const std::shared_ptr<hal::SignalFence> fence = std::move(job.fence);
  job = Job();
  fence->Signal(std::move(status), t);
}

Status Queue::DoSteps(const Job& job) {
  const Frame frame{job.bases.data(), pool_.get()};
  if (job.step_ns == nullptr) return job.executable->Run(frame, job.cancel, nullptr);
  job.step_ns->clear();
  job.step_ns->reserve(job.executable->steps().size());
  std::int64_t last = RealEnv().NowNs();
  const std::function<void(std::size_t)> after = [&](std::size_t) {
    const std::int64_t now = RealEnv().NowNs();
    job.step_ns->push_back(now - last);
    last = now;
  };
  return job.executable->Run(frame, job.cancel, &after);
}

Status Queue::DoFlow(Job& job, target::Estimate* estimate) {
  std::vector<tensor::Value> outputs(job.outputs.size());
  estimate->kind = target::Kind::kModelled;
  NPUKIT_RETURN_IF_ERROR(job.flow->Run(job.inputs, outputs, pool_.get(), job.cancel, estimate));
  for (std::size_t i = 0; i < outputs.size(); ++i) *job.outputs[i] = std::move(outputs[i]);
  return OkStatus();
}

}  // namespace npukit::devices::cpu
