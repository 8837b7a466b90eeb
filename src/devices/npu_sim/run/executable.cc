#include "devices/npu_sim/run/executable.h"

#include <utility>

#include "base/text.h"
#include "devices/npu_sim/model/model.h"

namespace npukit::devices::npu_sim {

Result<std::unique_ptr<CorePool>> CorePool::Create(const npu::Buffers& sizes, int cores) {
  std::unique_ptr<CorePool> pool(new CorePool());
  for (int i = 0; i < cores; ++i) {
    NPUKIT_ASSIGN_OR_RETURN(std::unique_ptr<Core> core, Core::Create(sizes));
    pool->free_.push_back(core.get());
    pool->cores_.push_back(std::move(core));
  }
  pool->memory_bytes_ = Core::MemoryBytes(sizes) * static_cast<std::uint64_t>(cores);
  return pool;
}

Core* CorePool::Take() {
  std::lock_guard<std::mutex> lock(mutex_);
  NPUKIT_CHECK(!free_.empty());
  Core* core = free_.back();
  free_.pop_back();
  return core;
}

void CorePool::Give(Core* core) {
  std::lock_guard<std::mutex> lock(mutex_);
  free_.push_back(core);
}

Result<npu::Buffers> ProfileBuffers(const target::Profile& profile) {
  npu::Buffers b;
  const std::pair<std::uint32_t*, const char*> keys[] = {{&b.l1_bytes, "npu.sram_bytes"},
                                                         {&b.l0a_bytes, "npu.l0a_bytes"},
                                                         {&b.l0b_bytes, "npu.l0b_bytes"},
                                                         {&b.l0c_bytes, "npu.l0c_bytes"},
                                                         {&b.ub_bytes, "npu.ub_bytes"}};
  for (const auto& [to, key] : keys) {
    NPUKIT_ASSIGN_OR_RETURN(const double v, profile.Number(key));
    if (!(v >= 512 && v <= 2147483647.0)) {
      return InvalidArgument(
          Cat("profile ", profile.name, ": ", key, ": expected 512 to 2147483647, found ", v));
    }
    *to = static_cast<std::uint32_t>(v);
  }
  return b;
}

Result<std::shared_ptr<SimExecutable>> SimExecutable::Load(std::span<const std::byte> blob,
                                                           std::span<const hal::WeightView> weights,
                                                           const target::Profile& profile) {
  std::shared_ptr<SimExecutable> exe(new SimExecutable());
  NPUKIT_ASSIGN_OR_RETURN(exe->program_, npu::Unpack(blob));
  const npu::Program& p = exe->program_;
  NPUKIT_ASSIGN_OR_RETURN(const npu::Buffers have, ProfileBuffers(profile));
  const std::pair<const char*, std::pair<std::uint32_t, std::uint32_t>> sizes[] = {
      {"npu.sram_bytes", {p.buffers.l1_bytes, have.l1_bytes}},
      {"npu.l0a_bytes", {p.buffers.l0a_bytes, have.l0a_bytes}},
      {"npu.l0b_bytes", {p.buffers.l0b_bytes, have.l0b_bytes}},
      {"npu.l0c_bytes", {p.buffers.l0c_bytes, have.l0c_bytes}},
      {"npu.ub_bytes", {p.buffers.ub_bytes, have.ub_bytes}}};
  for (const auto& [key, pair] : sizes) {
    if (pair.first > pair.second) {
      return Unsupported(Cat("npu_sim: the program was tiled for ", key, " = ", pair.first, ", ",
                             profile.name, " has ", pair.second,
                             "; compile the model for this target"));
    }
  }
  NPUKIT_ASSIGN_OR_RETURN(const double bits, profile.Number("npu.cube.accumulator_fp16_bits"));
  if (bits != p.accumulator_fp16_bits) {
    return Unsupported(
        Cat("npu_sim: the program needs npu.cube.accumulator_fp16_bits = ", p.accumulator_fp16_bits,
            ", ", profile.name, " has ", bits, "; compile the model for this target"));
  }
  NPUKIT_RETURN_IF_ERROR(npu::Check(p));
  if (weights.size() != p.weight_bytes.size()) {
    return DataCorrupt(
        Cat("npu_sim: expected ", p.weight_bytes.size(), " weights, found ", weights.size()));
  }
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i].bytes.size() < p.weight_bytes[i]) {
      return DataCorrupt(Cat("npu_sim: weight ", i, ": expected ", p.weight_bytes[i],
                             " bytes, found ", weights[i].bytes.size()));
    }
    exe->weights_.push_back(weights[i].bytes.data());
  }
  NPUKIT_ASSIGN_OR_RETURN(exe->estimate_, npu::EstimateProgram(p, profile));
  return exe;
}

Result<std::vector<tensor::Type>> SimExecutable::Prepare(std::span<const tensor::Type> inputs) {
  if (inputs.size() != program_.inputs.size()) {
    return Unsupported(
        Cat("npu_sim: expected ", program_.inputs.size(), " inputs, found ", inputs.size()));
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!(inputs[i] == program_.inputs[i])) {
      return Unsupported(Cat("npu_sim: input ", i, ": compiled for ", program_.inputs[i].ToString(),
                             ", found ", inputs[i].ToString(),
                             "; compile a program for this shape"));
    }
  }
  return program_.outputs;
}

std::uint64_t SimExecutable::memory_bytes() const {
  std::uint64_t bytes = sizeof *this + program_.code.size() * 4;
  for (const npu::Task& t : program_.tasks)
    bytes += sizeof t + t.name.size() + t.groups.size() * sizeof(npu::Group);
  return bytes;
}

Status SimExecutable::Run(Dram dram, CorePool& cores, const Kernels& kernels, ThreadPool& pool,
                          const std::atomic<bool>* cancel) const {
  dram.weights = weights_;
  for (const npu::Task& task : program_.tasks) {
    pool.ParallelFor(TileCount(task), 1, [&](std::size_t begin, std::size_t end) {
      Core* core = cores.Take();
      ExecuteTiles(program_, task, begin, end, dram, *core, kernels, cancel);
      cores.Give(core);
    });
    if (cancel != nullptr && cancel->load(std::memory_order_relaxed))
      return Status(Code::kCancelled, Cat("npu_sim: cancelled in ", Printable(task.name)));
  }
  return OkStatus();
}

}  // namespace npukit::devices::npu_sim
