#include "devices/npu_sim/run/machine.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/text.h"
#include "devices/npu_sim/run/moves.h"
#include "devices/npu_sim/run/vector_unit.h"

namespace npukit::devices::npu_sim {
namespace {

constexpr std::uint64_t Align(std::uint64_t n) { return (n + 63) / 64 * 64; }

class Machine {
 public:
  Machine(const npu::Program& program, const Dram& dram, Core& core, const Kernels& kernels)
      : program_(program), dram_(dram), core_(core), kernels_(kernels) {}

  void SetTile(std::uint32_t t0, std::uint32_t t1) {
    t0_ = t0;
    t1_ = t1;
  }

  void operator()(const npu::Copy& x) { CopyRuns(x, Source(x.src), Destination(x.dst)); }
  void operator()(const npu::Fill& x) { FillRuns(x, core_.at(x.mem)); }
  void operator()(const npu::Load3d& x) { LoadWindows(x, core_.at(npu::kL1), core_.at(npu::kL0A)); }
  void operator()(const npu::Load2d& x) {
    LoadFractals(x, core_.at(npu::kL1), core_.at(x.dst_mem));
  }
  void operator()(const npu::Mmad& x) {
    kernels_.mmad({x, program_.accumulator_fp16_bits == 16, core_.at(npu::kL0A) + x.a_addr,
                   core_.at(npu::kL0B) + x.b_addr, core_.at(npu::kL0C) + x.c_addr,
                   core_.at(npu::kL1) + x.bias_addr, core_.a_scratch(), core_.b_scratch()});
  }
  void operator()(const npu::Move& x) { MoveElements(x, core_.at(npu::kUb), kernels_); }
  void operator()(const npu::L0cToUb& x) {
    VectorUnit(core_, kernels_).Run(x, program_.accumulator_fp16_bits == 16);
  }
  template <class T>
  void operator()(const T& x) {
    VectorUnit(core_, kernels_).Run(x);
  }

 private:
  std::int64_t Offset(const npu::Place& p) const {
    return p.addr + std::int64_t{t0_} * p.step[0] + std::int64_t{t1_} * p.step[1];
  }
  const std::byte* Source(const npu::Place& p) {
    const auto i = static_cast<std::size_t>(p.index);
    switch (p.mem) {
      case npu::kInput:
        return dram_.inputs[i] + Offset(p);
      case npu::kWeight:
        return dram_.weights[i] + Offset(p);
      case npu::kWorkspace:
        return dram_.workspace + Offset(p);
      default:
        return core_.at(p.mem) + p.addr;
    }
  }
  std::byte* Destination(const npu::Place& p) {
    switch (p.mem) {
      case npu::kOutput:
        return dram_.outputs[static_cast<std::size_t>(p.index)] + Offset(p);
      case npu::kWorkspace:
        return dram_.workspace + Offset(p);
      default:
        return core_.at(p.mem) + p.addr;
    }
  }

  const npu::Program& program_;
  const Dram& dram_;
  Core& core_;
  const Kernels& kernels_;
  std::uint32_t t0_ = 0, t1_ = 0;
};

}  // namespace

void Core::Free::operator()(std::byte* p) const { std::free(p); }

std::uint64_t Core::MemoryBytes(const npu::Buffers& s) {
  return Align(s.l1_bytes) + Align(s.ub_bytes) + Align(s.l0a_bytes) + Align(s.l0b_bytes) +
         Align(s.l0c_bytes) +
         Align(std::max(std::uint64_t{4} * s.l0a_bytes, std::uint64_t{2} * s.ub_bytes) + 64) +
         Align(std::uint64_t{4} * s.l0b_bytes);
}

Result<std::unique_ptr<Core>> Core::Create(const npu::Buffers& s) {
  std::unique_ptr<Core> core(new Core());
  const std::uint64_t bytes = MemoryBytes(s);
  core->sizes_ = s;
  core->block_.reset(
      static_cast<std::byte*>(std::aligned_alloc(64, static_cast<std::size_t>(bytes))));
  if (!core->block_)
    return Status(Code::kOutOfMemory, Cat("npu_sim: no memory for a core of ", bytes, " bytes"));
  std::memset(core->block_.get(), 0, static_cast<std::size_t>(bytes));
  std::byte* p = core->block_.get();
  const std::uint32_t sizes[5] = {s.l1_bytes, s.ub_bytes, s.l0a_bytes, s.l0b_bytes, s.l0c_bytes};
  for (int i = 0; i < 5; ++i) {
    core->memory_[i] = p;
    p += Align(sizes[i]);
  }
  core->b_scratch_ = reinterpret_cast<float*>(p);
  core->a_scratch_ = reinterpret_cast<float*>(p + Align(std::uint64_t{4} * s.l0b_bytes));
  return core;
}

void Core::Poison(std::byte value) {
  std::memset(block_.get(), static_cast<int>(value), static_cast<std::size_t>(MemoryBytes(sizes_)));
}

std::uint64_t TileCount(const npu::Task& task) {
  std::uint64_t n = 0;  // does not wrap: blob/check.cc bounds the tiles of a program
  for (const npu::Group& g : task.groups) n += std::uint64_t{g.tiles0} * g.tiles1;
  return n;
}

void Execute(const npu::Program& program, npu::Code code, std::uint32_t t0, std::uint32_t t1,
             const Dram& dram, Core& core, const Kernels& kernels,
             const std::atomic<bool>* cancel) {
  Machine machine(program, dram, core, kernels);
  machine.SetTile(t0, t1);
  const std::int32_t* w = program.code.data() + code.begin;
  for (const std::int32_t* end = w + code.count; w < end; w += 1 + npu::OperandWordsOf(*w)) {
    if (cancel != nullptr && cancel->load(std::memory_order_relaxed)) return;
    npu::Visit(w, machine);
  }
}

void ExecuteTiles(const npu::Program& program, const npu::Task& task, std::uint64_t begin,
                  std::uint64_t end, const Dram& dram, Core& core, const Kernels& kernels,
                  const std::atomic<bool>* cancel) {
  std::uint64_t first = 0;  // tile number of the group's first
  for (const npu::Group& g : task.groups) {
    const std::uint64_t tiles = std::uint64_t{g.tiles0} * g.tiles1;
    const std::uint64_t from = std::max(begin, first), to = std::min(end, first + tiles);
    if (from < to) Execute(program, g.prologue, 0, 0, dram, core, kernels, cancel);
    for (std::uint64_t t = from; t < to; ++t) {
      if (cancel != nullptr && cancel->load(std::memory_order_relaxed)) return;
      const std::uint64_t i = t - first;
      Execute(program, g.body, static_cast<std::uint32_t>(i / g.tiles1),
              static_cast<std::uint32_t>(i % g.tiles1), dram, core, kernels, cancel);
    }
    first += tiles;
  }
}

}  // namespace npukit::devices::npu_sim
