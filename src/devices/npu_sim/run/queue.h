// One thread that does works in the order they were submitted, each after the fences it waits for,
// like an NPU's queue. The virtual clock follows that order, never the host's threads.
#pragma once

#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "devices/npu_sim/run/executable.h"
#include "hal/device.h"
#include "hal/signal_fence.h"

namespace npukit::devices::npu_sim {

// A work, checked and with its addresses resolved. Holds what must stay alive until it is done.
struct Job {
  std::shared_ptr<SimExecutable> executable;
  std::vector<hal::BufferPtr> buffers;
  std::vector<hal::FencePtr> waits;
  Dram dram;
  const std::atomic<bool>* cancel = nullptr;
  std::int64_t deadline_ns = 0;
  std::shared_ptr<hal::SignalFence> fence;
};

class Queue {
 public:
  static Result<std::unique_ptr<Queue>> Start(std::shared_ptr<ThreadPool> pool,
                                              std::unique_ptr<CorePool> cores,
                                              const Kernels& kernels, bool virtual_clock);
  ~Queue();  // finishes what was submitted
  void Push(Job job);
  hal::Telemetry Sample() const;
  std::uint64_t core_bytes() const { return cores_->memory_bytes(); }

 private:
  Queue(std::shared_ptr<ThreadPool> pool, std::unique_ptr<CorePool> cores, const Kernels& kernels,
        bool virtual_clock)
      : pool_(std::move(pool)),
        cores_(std::move(cores)),
        kernels_(kernels),
        virtual_clock_(virtual_clock) {}
  void Loop();
  void Do(Job& job);

  const std::shared_ptr<ThreadPool> pool_;
  const std::unique_ptr<CorePool> cores_;
  const Kernels& kernels_;
  const bool virtual_clock_;
  std::int64_t virtual_now_ns_ = 0;  // when the virtual NPU is free; the worker's alone
  pthread_t thread_{};
  bool started_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;  // guarded by mutex_
  bool stop_ = false;     // guarded by mutex_
  std::atomic<std::int64_t> busy_ns_{0};
  std::atomic<std::uint64_t> works_{0};
};

}  // namespace npukit::devices::npu_sim
