// One core of the simulated NPU: its buffers, and the execution of checked instruction lists on
// them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/status.h"
#include "devices/npu_sim/blob/blob.h"
#include "devices/npu_sim/run/kernels.h"

namespace npukit::devices::npu_sim {

// Where a run's DRAM spaces lie. Not owned; sizes are those the program was checked against.
struct Dram {
  std::vector<const std::byte*> inputs;
  std::vector<std::byte*> outputs;
  std::vector<const std::byte*> weights;
  std::byte* workspace = nullptr;
};

// L1, UB and L0 of one core. Used by one thread at a time; contents survive between tiles and are
// otherwise undefined.
class Core {
 public:
  static Result<std::unique_ptr<Core>> Create(const npu::Buffers& sizes);  // kOutOfMemory
  static std::uint64_t MemoryBytes(const npu::Buffers& sizes);
  // Overwrites everything on chip, so that a test sees a program that reads what it did not write.
  void Poison(std::byte value);

  std::byte* at(std::int32_t mem) { return memory_[mem - npu::kL1]; }
  float* a_scratch() { return a_scratch_; }  // 4 * l0a and 2 * ub bytes at least
  float* b_scratch() { return b_scratch_; }

 private:
  Core() = default;
  struct Free {
    void operator()(std::byte* p) const;
  };
  npu::Buffers sizes_;
  std::unique_ptr<std::byte, Free> block_;
  std::byte* memory_[5] = {};  // by Mem - kL1
  float* a_scratch_ = nullptr;
  float* b_scratch_ = nullptr;
};

// Runs one stretch of a checked program for tile (t0, t1) on `core`. `buffers` must be at least the
// program's.
void Execute(const npu::Program& program, npu::Code code, std::uint32_t t0, std::uint32_t t1,
             const Dram& dram, Core& core, const Kernels& kernels,
             const std::atomic<bool>* cancel = nullptr);

// Tiles [begin, end) of a task, counted over its groups in order, t1 innermost; each group's
// prologue before its first.
void ExecuteTiles(const npu::Program& program, const npu::Task& task, std::uint64_t begin,
                  std::uint64_t end, const Dram& dram, Core& core, const Kernels& kernels,
                  const std::atomic<bool>* cancel = nullptr);
std::uint64_t TileCount(const npu::Task& task);

}  // namespace npukit::devices::npu_sim
