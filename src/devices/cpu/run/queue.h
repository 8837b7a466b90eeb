// One worker thread that does works in the order they were submitted, each after the fences it
// waits for.
#pragma once

#include <pthread.h>

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "devices/cpu/run/executable.h"
#include "devices/cpu/run/flow.h"
#include "hal/device.h"
#include "hal/signal_fence.h"

namespace npukit::devices::cpu {

// A work, checked and with its addresses resolved. Holds what must stay alive until it is done.
struct Job {
  std::shared_ptr<CpuExecutable> executable;  // this over `bases`, or `flow` over the values
  std::shared_ptr<FlowExecutable> flow;
  std::vector<tensor::Value> inputs;
  std::vector<std::shared_ptr<tensor::Value>> outputs;
  std::vector<hal::BufferPtr> buffers;
  std::vector<hal::FencePtr> waits;
  std::vector<std::uintptr_t> bases;
  const std::atomic<bool>* cancel = nullptr;
  std::int64_t deadline_ns = 0;
  std::vector<std::int64_t>* step_ns = nullptr;
  std::shared_ptr<hal::SignalFence> fence;
};

class Queue {
 public:
  // kResourceExhausted when the system gives no thread.
  static Result<std::unique_ptr<Queue>> Start(std::shared_ptr<ThreadPool> pool, bool virtual_clock);
  ~Queue();  // finishes what was submitted
  void Push(Job job);
  hal::Telemetry Sample() const;

 private:
  Queue(std::shared_ptr<ThreadPool> pool, bool virtual_clock)
      : pool_(std::move(pool)), virtual_clock_(virtual_clock) {}
  void Loop();
  void Do(Job& job);
  Status DoSteps(const Job& job);
  Status DoFlow(Job& job, target::Estimate* estimate);

  std::shared_ptr<ThreadPool> pool_;
  const bool virtual_clock_;
  std::int64_t virtual_now_ns_ = 0;  // when the virtual CPU is free; the worker's alone
  pthread_t thread_{};
  bool started_ = false;
  mutable std::mutex mutex_;
  std::condition_variable cv_;
  std::deque<Job> jobs_;  // guarded by mutex_
  bool stop_ = false;     // guarded by mutex_
  std::atomic<std::uint32_t> news_{
      0};  // counts pushes and stop: what the worker looks at before it sleeps
  std::atomic<std::int64_t> busy_ns_{0};
  std::atomic<std::uint64_t> works_{0};
};

}  // namespace npukit::devices::cpu
