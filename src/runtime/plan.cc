#include "runtime/plan.h"

#include <algorithm>

#include "base/text.h"
#include "tensor/strings.h"

namespace npukit::runtime {
namespace {

using format::SlotKind;
using format::StepKind;

constexpr std::uint64_t kAlignment = 64;
constexpr std::uint64_t kMaxArenaBytes = std::uint64_t{1} << 40;
using format::kNoSlot;

std::string StepName(std::size_t number) { return Cat("step ", number); }

// What a constant slot holds, borrowed from the package where it can be.
Result<tensor::Value> ConstantValue(const format::Package& package, const format::Slot& slot) {
  const std::span<const std::byte> bytes = package.Weight(slot.index);
  const std::string where = Cat("constant '", Printable(slot.name), "'");
  if (!slot.type.is_static())
    return DataCorrupt(Cat(where, ": no fixed shape: ", slot.type.ToString()));
  if (slot.type.dtype == tensor::DType::kString) {
    auto v = tensor::DecodeStrings(slot.type.dims(), bytes);
    if (!v.ok()) return v.status().WithContext(where);
    return v;
  }
  if (!slot.type.bytes() || *slot.type.bytes() > bytes.size()) {
    return DataCorrupt(
        Cat(where, ": expected ", slot.type.ToString(), ", found ", bytes.size(), " bytes"));
  }
  return tensor::Value::Borrow(slot.type.dtype, slot.type.dims(), bytes.data());
}

std::string SlotName(const format::Slot& slot, std::size_t number) {
  return Cat("slot ", number, " ('", Printable(slot.name), "')");
}

}  // namespace

Result<std::shared_ptr<const Plan>> Plan::Bind(std::shared_ptr<const format::Package> package,
                                               std::uint32_t program,
                                               std::span<const hal::DevicePtr> devices) {
  std::shared_ptr<Plan> plan(new Plan);
  plan->package_ = std::move(package);
  plan->index_ = program;
  const std::string where = Cat("package program ", program);
  const auto bind = [&]() -> Status {
    NPUKIT_RETURN_IF_ERROR(plan->CheckSlots());
    NPUKIT_RETURN_IF_ERROR(plan->LoadExecutables(devices));
    const format::Program& p = plan->program();
    if (p.blocks.empty()) return DataCorrupt("no entry block: compile the package again");
    if (!plan->step_by_step_ && p.blocks.size() > 1)
      return DataCorrupt("blocks beside the entry, in a program of fixed slots");
    for (std::size_t b = 0; b < p.blocks.size(); ++b) {
      std::vector<PlanStep>& block = plan->blocks_.emplace_back();
      const std::vector<format::Step>& steps = p.blocks[b].steps;
      for (std::size_t i = 0; i < steps.size(); ++i) {
        NPUKIT_RETURN_IF_ERROR(plan->BindStep(
            steps[i], b == 0 ? StepName(i) : Cat("block ", b, " ", StepName(i)), block));
      }
    }
    return plan->ImportConstants(devices);
  };
  if (Status s = bind(); !s.ok()) return s.WithContext(where);
  return std::shared_ptr<const Plan>(std::move(plan));
}

Status Plan::CheckSlots() {
  const format::Head& head = package_->head();
  const format::Program& p = program();
  if (p.input_types.size() != head.inputs.size() || p.output_types.size() != head.outputs.size()) {
    return DataCorrupt(Cat("expected ", head.inputs.size(), " inputs and ", head.outputs.size(),
                           " outputs, found ", p.input_types.size(), " and ",
                           p.output_types.size()));
  }
  if (p.arena_bytes > kMaxArenaBytes) {
    return ResourceExhausted(
        Cat("an arena of ", p.arena_bytes, " bytes, the limit is ", kMaxArenaBytes));
  }
  output_slots_.assign(head.outputs.size(), kNoSlot);
  step_by_step_ = p.by_step;
  for (std::size_t i = 0; i < p.slots.size(); ++i) NPUKIT_RETURN_IF_ERROR(CheckSlot(i));
  for (std::size_t i = 0; i < output_slots_.size(); ++i) {
    if (output_slots_[i] == kNoSlot) return DataCorrupt(Cat("output ", i, " has no slot"));
  }
  return OkStatus();
}

Status Plan::CheckSlot(std::size_t i) {
  const format::Head& head = package_->head();
  const format::Program& p = program();
  const format::Slot& slot = p.slots[i];
  const bool sized = slot.type.is_static() && slot.type.bytes().has_value();
  const std::uint64_t bytes = sized ? slot.type.bytes().value_or(0) : 0;
  if (!sized && !step_by_step_) {
    return DataCorrupt(
        Cat(SlotName(slot, i), " has type ", slot.type.ToString(), " in a program of fixed slots"));
  }
  PlanSlot planned{.slot = &slot, .bytes = bytes};
  const tensor::Type* expected = nullptr;
  switch (slot.kind) {
    case SlotKind::kInput:
      if (slot.index >= p.input_types.size())
        return DataCorrupt(Cat(SlotName(slot, i), ": no input ", slot.index));
      expected = &p.input_types[slot.index];
      break;
    case SlotKind::kOutput:
      if (slot.index >= p.output_types.size())
        return DataCorrupt(Cat(SlotName(slot, i), ": no output ", slot.index));
      if (output_slots_[slot.index] != kNoSlot) {
        return DataCorrupt(Cat(SlotName(slot, i), ": output ", slot.index, " already has a slot"));
      }
      output_slots_[slot.index] = static_cast<std::uint32_t>(i);
      expected = &p.output_types[slot.index];
      break;
    case SlotKind::kFixed:
      if (step_by_step_)
        return DataCorrupt(Cat(SlotName(slot, i), " is fixed among values that are not"));
      if (slot.offset > p.arena_bytes || bytes > p.arena_bytes - slot.offset ||
          slot.offset % kAlignment != 0) {
        return DataCorrupt(Cat(SlotName(slot, i), ": ", bytes, " bytes at ", slot.offset,
                               " in an arena of ", p.arena_bytes, " (offsets are multiples of ",
                               kAlignment, ")"));
      }
      break;
    case SlotKind::kConstant:
      if (slot.index >= head.weights.size())
        return DataCorrupt(Cat(SlotName(slot, i), ": no weight ", slot.index));
      if (step_by_step_) break;  // ImportConstants looks at its bytes
      if (head.weights[slot.index].length != bytes) {
        return DataCorrupt(Cat(SlotName(slot, i), ": expected ", bytes,
                               " bytes, found a weight of ", head.weights[slot.index].length));
      }
      break;
    case SlotKind::kDynamic:
      if (!step_by_step_)
        return DataCorrupt(Cat(SlotName(slot, i), " is dynamic in a program of fixed slots"));
      break;
    default:
      return Unsupported(
          Cat(SlotName(slot, i),
              " is laid out at run time; this version runs fixed slots: update npukit"));
  }
  if (expected != nullptr && !(*expected == slot.type)) {
    return DataCorrupt(Cat(SlotName(slot, i), ": expected ", expected->ToString(), ", found ",
                           slot.type.ToString()));
  }
  slots_.push_back(std::move(planned));
  return OkStatus();
}

Status Plan::LoadExecutables(std::span<const hal::DevicePtr> devices) {
  scratch_offset_ = (program().arena_bytes + kAlignment - 1) / kAlignment * kAlignment;
  std::uint64_t scratch = 0;
  for (std::size_t i = 0; i < program().executables.size(); ++i) {
    const format::ExecutableInfo& info = program().executables[i];
    const std::string where = Cat("executable ", i, " (", Printable(info.device), ")");
    const auto device = std::find_if(devices.begin(), devices.end(), [&](const hal::DevicePtr& d) {
      return d && d->info().name == info.device;
    });
    if (device == devices.end()) return NotFound(Cat(where, ": that device is not open"));
    auto blob = package_->Blob(info.blob_segment);
    if (!blob.ok()) return blob.status().WithContext(where);
    std::vector<hal::WeightView> weights;
    weights.reserve(info.weights.size());
    for (const std::uint32_t w : info.weights) {
      if (w >= package_->head().weights.size()) return DataCorrupt(Cat(where, ": no weight ", w));
      weights.push_back({.id = w, .bytes = package_->Weight(w)});
    }
    auto loaded = (*device)->Load(*blob, weights);
    if (!loaded.ok()) return loaded.status().WithContext(where);
    Loaded e{.device = static_cast<std::size_t>(device - devices.begin()), .executable = *loaded};
    e.scratch_bytes = std::max(info.scratch_bytes, e.executable->scratch_bytes());
    if (e.scratch_bytes > kMaxArenaBytes) {
      return ResourceExhausted(
          Cat(where, ": ", e.scratch_bytes, " bytes of scratch, the limit is ", kMaxArenaBytes));
    }
    scratch = std::max(scratch, e.scratch_bytes);
    device_bytes_ += e.executable->memory_bytes();
    devices_ |= DeviceMask{1} << e.device;
    executables_.push_back(std::move(e));
  }
  arena_bytes_ = scratch_offset_ + scratch;
  return OkStatus();
}

Status Plan::BindStep(const format::Step& step, const std::string& where,
                      std::vector<PlanStep>& block) {
  PlanStep planned{
      .kind = step.kind, .step = &step, .inputs = step.inputs, .outputs = step.outputs};
  for (const auto* list : {&step.inputs, &step.outputs, &step.params, &step.results}) {
    for (const std::uint32_t s : *list) {
      if (s >= slots_.size()) return DataCorrupt(Cat(where, ": no slot ", s));
    }
  }
  switch (step.kind) {
    case StepKind::kRelease:
      if (!step_by_step_) return OkStatus();  // fixed slots live as long as the arena
      break;
    case StepKind::kIf:
    case StepKind::kLoop:
      break;  // their lists were checked when the package was opened (format/verify)
    case StepKind::kCopy:
      if (step_by_step_) break;
      if (step.inputs.size() != 1 || step.outputs.size() != 1 ||
          !(slots_[step.inputs[0]].slot->type == slots_[step.outputs[0]].slot->type)) {
        return DataCorrupt(
            Cat(where, ": a copy needs one source and one destination of the same type"));
      }
      has_copies_ = true;
      break;
    case StepKind::kCall: {
      if (step.executable >= executables_.size()) {
        return DataCorrupt(Cat(where, ": no executable ", step.executable));
      }
      const Loaded& e = executables_[step.executable];
      planned.device = e.device;
      planned.executable = e.executable;
      planned.scratch_bytes = e.scratch_bytes;
      for (const std::uint32_t s : step.inputs) slots_[s].devices |= DeviceMask{1} << e.device;
      for (const std::uint32_t s : step.outputs) slots_[s].devices |= DeviceMask{1} << e.device;
      NPUKIT_RETURN_IF_ERROR(CheckTypes(planned, where));
      break;
    }
    default:
      return Unsupported(
          Cat(where, " is of kind ", static_cast<int>(step.kind), ": update npukit"));
  }
  for (const std::uint32_t s : step.outputs) {
    if (slots_[s].slot->kind == SlotKind::kInput || slots_[s].slot->kind == SlotKind::kConstant) {
      return DataCorrupt(
          Cat(where, " writes ", SlotName(*slots_[s].slot, s), ", which is read-only"));
    }
  }
  block.push_back(std::move(planned));
  return OkStatus();
}

// What the blob computes must be what the program says: a device writes as much as its blob's types
// tell it to.
Status Plan::CheckTypes(PlanStep& step, const std::string& where) const {
  std::vector<tensor::Type> inputs;
  for (const std::uint32_t s : step.inputs) inputs.push_back(slots_[s].slot->type);
  auto outputs = step.executable->Prepare(inputs);
  if (!outputs.ok()) return outputs.status().WithContext(where);
  if (outputs->size() != step.outputs.size()) {
    return DataCorrupt(
        Cat(where, ": expected ", step.outputs.size(), " outputs, its blob has ", outputs->size()));
  }
  for (std::size_t i = 0; i < outputs->size(); ++i) {
    const tensor::Type& expected = slots_[step.outputs[i]].slot->type;
    if (step_by_step_ && (*outputs)[i].dtype == tensor::DType::kUndefined) {
      step.any_shape = true;
      continue;
    }
    if (!((*outputs)[i] == expected)) {
      return DataCorrupt(Cat(where, " output ", i, ": expected ", expected.ToString(),
                             ", its blob gives ", (*outputs)[i].ToString()));
    }
  }
  return OkStatus();
}

Status Plan::ImportConstants(std::span<const hal::DevicePtr> devices) {
  for (PlanSlot& s : slots_) {
    if (s.slot->kind != SlotKind::kConstant) continue;
    if (step_by_step_) {
      NPUKIT_ASSIGN_OR_RETURN(s.value, ConstantValue(*package_, *s.slot));
      continue;
    }
    if (s.bytes == 0) {
      NPUKIT_ASSIGN_OR_RETURN(s.constant, SharedMemory::Allocate(devices, s.devices, 0));
      continue;
    }
    // Never written: BindStep refuses steps that would.
    void* host = const_cast<std::byte*>(package_->Weight(s.slot->index).data());
    NPUKIT_ASSIGN_OR_RETURN(s.constant, SharedMemory::Import(devices, s.devices, host, s.bytes));
  }
  return OkStatus();
}

}  // namespace npukit::runtime
