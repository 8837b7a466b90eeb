// A loaded program: checked, priced, with its weights in place. Immutable after Load; any number of
// works may run it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/status.h"
#include "base/thread_pool.h"
#include "devices/npu_sim/blob/blob.h"
#include "devices/npu_sim/run/machine.h"
#include "hal/device.h"
#include "target/estimate.h"
#include "target/profile.h"

namespace npukit::devices::npu_sim {

// The cores of a device: as many as the pool has threads, so that a region never waits for one.
// Thread-safe.
class CorePool {
 public:
  static Result<std::unique_ptr<CorePool>> Create(const npu::Buffers& sizes, int cores);
  Core* Take();
  void Give(Core* core);
  std::uint64_t memory_bytes() const { return memory_bytes_; }

 private:
  CorePool() = default;
  std::uint64_t memory_bytes_ = 0;
  std::vector<std::unique_ptr<Core>> cores_;
  std::mutex mutex_;
  std::vector<Core*> free_;  // guarded by mutex_
};

class SimExecutable final : public hal::Executable {
 public:
  // kDataCorrupt: a bad blob, or weights of other sizes. kUnsupported: compiled for a chip with
  // larger buffers or other accumulators.
  static Result<std::shared_ptr<SimExecutable>> Load(std::span<const std::byte> blob,
                                                     std::span<const hal::WeightView> weights,
                                                     const target::Profile& profile);

  Result<std::vector<tensor::Type>> Prepare(std::span<const tensor::Type> inputs) override;
  std::uint64_t memory_bytes() const override;
  std::uint64_t scratch_bytes() const override { return program_.workspace_bytes; }

  const npu::Program& program() const { return program_; }
  const target::Estimate& estimate() const { return estimate_; }
  // `dram` holds everything but the weights. kCancelled when `cancel` turned true between tasks.
  Status Run(Dram dram, CorePool& cores, const Kernels& kernels, ThreadPool& pool,
             const std::atomic<bool>* cancel) const;

 private:
  SimExecutable() = default;
  npu::Program program_;
  std::vector<const std::byte*> weights_;
  target::Estimate estimate_;
};

// Sizes of one core's buffers on the profile.
Result<npu::Buffers> ProfileBuffers(const target::Profile& profile);

}  // namespace npukit::devices::npu_sim
