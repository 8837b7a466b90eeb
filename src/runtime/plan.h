// A program bound to open devices: executables loaded once with their weights as views of the
// mapped package, slots resolved to places, everything of the package that is used later checked
// here. Immutable after Bind; any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/status.h"
#include "format/reader.h"
#include "hal/device.h"
#include "runtime/shared_memory.h"

namespace npukit::runtime {

// Where a slot's bytes are in a run.
struct PlanSlot {
  const format::Slot* slot = nullptr;
  std::uint64_t bytes = 0;
  DeviceMask devices = 0;  // that touch it
  SharedMemory constant;   // kConstant: the mapped weight
  tensor::Value value;     // kConstant of a program run step by step
};

struct PlanStep {
  // Submitted whole: kCall or kCopy, since kRelease has nothing to do on fixed slots.
  format::StepKind kind = format::StepKind::kCall;
  const format::Step* step = nullptr;  // what control steps and releases name
  std::size_t device = 0;              // kCall: index into the session's devices
  hal::ExecutablePtr executable;       // kCall
  std::uint64_t scratch_bytes = 0;     // kCall
  bool any_shape = false;              // kCall: takes and gives values, not buffers
  std::vector<std::uint32_t> inputs;   // slots
  std::vector<std::uint32_t> outputs;
};

class Plan {
 public:
  // `devices` are all the session's; executables name theirs by DeviceInfo::name. kDataCorrupt: the
  // program contradicts itself or its blobs. kUnsupported: it needs something this version does not
  // run (names it).
  static Result<std::shared_ptr<const Plan>> Bind(std::shared_ptr<const format::Package> package,
                                                  std::uint32_t program,
                                                  std::span<const hal::DevicePtr> devices);

  std::uint32_t program_index() const { return index_; }
  const format::Program& program() const { return package_->head().programs[index_]; }
  const std::vector<PlanSlot>& slots() const { return slots_; }
  const std::vector<PlanStep>& steps() const { return blocks_[0]; }
  // Slots hold values of any kind and steps run one by one (step_runner.h); else the steps are
  // submitted whole, over fixed memory.
  bool step_by_step() const { return step_by_step_; }
  const std::vector<std::vector<PlanStep>>& blocks() const { return blocks_; }
  std::uint32_t output_slot(std::size_t output) const { return output_slots_[output]; }
  DeviceMask devices() const { return devices_; }
  // Arena: the fixed slots, then one scratch area for whichever step runs (steps of one run never
  // overlap in time).
  std::uint64_t scratch_offset() const { return scratch_offset_; }
  std::uint64_t arena_bytes() const { return arena_bytes_; }
  bool has_copies() const { return has_copies_; }
  std::uint64_t device_bytes() const {
    return device_bytes_;
  }  // what executables hold beside the package

 private:
  Plan() = default;
  Status LoadExecutables(std::span<const hal::DevicePtr> devices);
  Status CheckSlots();
  Status CheckSlot(std::size_t i);
  Status BindStep(const format::Step& step, const std::string& where, std::vector<PlanStep>& block);
  Status CheckTypes(PlanStep& step, const std::string& where) const;
  Status ImportConstants(std::span<const hal::DevicePtr> devices);

  struct Loaded {
    std::size_t device = 0;
    hal::ExecutablePtr executable;
    std::uint64_t scratch_bytes = 0;
  };
  std::shared_ptr<const format::Package> package_;  // keeps blobs and weights mapped
  std::uint32_t index_ = 0;
  std::vector<Loaded> executables_;
  std::vector<PlanSlot> slots_;
  std::vector<std::vector<PlanStep>> blocks_;  // as the program's
  bool step_by_step_ = false;
  std::vector<std::uint32_t> output_slots_;
  DeviceMask devices_ = 0;
  std::uint64_t scratch_offset_ = 0;
  std::uint64_t arena_bytes_ = 0;
  std::uint64_t device_bytes_ = 0;
  bool has_copies_ = false;
};

}  // namespace npukit::runtime
