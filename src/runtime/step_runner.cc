#include "runtime/step_runner.h"

#include <algorithm>
#include <cstring>

#include "base/text.h"
#include "tensor/stack.h"

namespace npukit::runtime {
namespace {

using format::kNoSlot;
using format::StepKind;
using tensor::Value;

constexpr char kRaise[] =
    "; raise the limit (--max-iterations) if the model really loops that long";

}  // namespace

Result<std::vector<Value>> StepRunner::Run(std::vector<Value> inputs) {
  const std::vector<PlanSlot>& slots = plan_.slots();
  values_.assign(slots.size(), Value());
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const format::Slot& slot = *slots[i].slot;
    if (slot.kind == format::SlotKind::kInput) values_[i] = inputs[slot.index];
    if (slot.kind == format::SlotKind::kConstant) values_[i] = slots[i].value;
  }
  end_ns_ = previous_->timing().end_ns;
  NPUKIT_RETURN_IF_ERROR(RunBlock(0));
  std::vector<Value> outputs;
  for (std::size_t i = 0; i < plan_.program().output_types.size(); ++i) {
    outputs.push_back(At(plan_.output_slot(i)));
    if (!outputs.back().present()) return Internal(Cat("output ", i, " was not made"));
  }
  return outputs;
}

Status StepRunner::RunBlock(std::uint32_t block) {
  const std::vector<PlanStep>& steps = plan_.blocks()[block];
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (cancel_.load(std::memory_order_relaxed)) return Status(Code::kCancelled, "cancelled");
    Status s = RunStep(steps[i]);
    if (s.ok()) continue;
    if (s.code() == Code::kCancelled) return s;
    return block == 0 ? s.WithContext(Cat("step ", i)) : s;
  }
  return OkStatus();
}

Status StepRunner::RunStep(const PlanStep& step) {
  switch (step.kind) {
    case StepKind::kCall:
      return Call(step);
    case StepKind::kCopy:  // values share their bytes
      values_[step.outputs[0]] = At(step.inputs[0]);
      return OkStatus();
    case StepKind::kRelease:
      for (const std::uint32_t s : step.inputs) values_[s] = Value();
      return OkStatus();
    case StepKind::kIf:
      return Branch(*step.step);
    case StepKind::kLoop:
      return Loop(*step.step);
  }
  return Internal("a step of no known kind");
}

Status StepRunner::Call(const PlanStep& step) {
  for (const std::uint32_t s : step.inputs) {
    if (!At(s).present())
      return DataCorrupt(
          Cat("'", Printable(plan_.slots()[s].slot->name), "' is read before it is made"));
  }
  return step.any_shape ? CallFlow(step) : CallStatic(step);
}

Status StepRunner::CallFlow(const PlanStep& step) {
  hal::Work work;
  for (const std::uint32_t s : step.inputs) {
    hal::Binding b;
    b.value = std::make_shared<Value>(At(s));
    work.inputs.push_back(std::move(b));
  }
  std::vector<std::shared_ptr<Value>> results;
  for (std::size_t i = 0; i < step.outputs.size(); ++i) {
    hal::Binding b;
    b.value = std::make_shared<Value>();
    results.push_back(b.value);
    work.outputs.push_back(std::move(b));
  }
  NPUKIT_RETURN_IF_ERROR(Submit(step, std::move(work)));
  for (std::size_t i = 0; i < results.size(); ++i) values_[step.outputs[i]] = *results[i];
  return OkStatus();
}

// A device with fixed shapes: its buffers are the values' own memory where the device can work on
// it.
Status StepRunner::CallStatic(const PlanStep& step) {
  hal::Work work;
  const DeviceMask mask = DeviceMask{1} << step.device;
  std::vector<SharedMemory> memory;
  const auto reach = [&](void* data, std::uint64_t bytes, bool* staged) -> Result<SharedMemory> {
    *staged = false;
    if (bytes == 0) return SharedMemory::Allocate(session_.devices, mask, 0);
    auto m = SharedMemory::Import(session_.devices, mask, data, bytes);
    if (m.ok() || m.status().code() != Code::kUnsupported) return m;
    *staged = true;
    return SharedMemory::Allocate(session_.devices, mask, bytes);
  };
  const auto count_copy = [&](std::uint64_t bytes) {
    ++copies_;
    bytes_copied_ += bytes;
  };
  for (const std::uint32_t s : step.inputs) {
    const tensor::Type& type = plan_.slots()[s].slot->type;
    const Value& v = At(s);
    if (!v.is_tensor() || !(v.type() == type)) {
      return InvalidArgument(
          Cat("'", Printable(plan_.slots()[s].slot->name),
              "': ", session_.devices[step.device]->info().description, " was compiled for ",
              type.ToString(), ", found ", v.type().ToString(),
              "; compile for this shape too (--shape), or run on the CPU (-d CPU)"));
    }
    bool staged = false;
    NPUKIT_ASSIGN_OR_RETURN(SharedMemory m,
                            reach(const_cast<void*>(v.data()), v.byte_size(), &staged));
    if (staged) {
      std::memcpy(m.host(), v.data(), static_cast<std::size_t>(v.byte_size()));
      count_copy(v.byte_size());
    }
    work.inputs.push_back({m.on(step.device), 0, type});
    memory.push_back(std::move(m));
  }
  std::vector<Value> results;
  std::vector<std::pair<std::size_t, std::size_t>> copy_back;  // result, memory
  for (const std::uint32_t s : step.outputs) {
    const tensor::Type& type = plan_.slots()[s].slot->type;
    NPUKIT_ASSIGN_OR_RETURN(Value v, Value::Allocate(type.dtype, type.dims()));
    bool staged = false;
    NPUKIT_ASSIGN_OR_RETURN(SharedMemory m, reach(v.mutable_data(), v.byte_size(), &staged));
    if (staged) copy_back.emplace_back(results.size(), memory.size());
    work.outputs.push_back({m.on(step.device), 0, type});
    memory.push_back(std::move(m));
    results.push_back(std::move(v));
  }
  SharedMemory arena;
  if (step.scratch_bytes > 0) {
    NPUKIT_ASSIGN_OR_RETURN(arena, session_.arenas.Take());
    work.scratch = {
        arena.on(step.device), plan_.scratch_offset(),
        tensor::Type::Tensor(tensor::DType::kU8,
                             tensor::Dims{static_cast<std::int64_t>(step.scratch_bytes)}),
        nullptr};
  }
  Status status = Submit(step, std::move(work));
  if (step.scratch_bytes > 0) session_.arenas.GiveBack(std::move(arena));
  NPUKIT_RETURN_IF_ERROR(status);
  for (const auto& [result, from] : copy_back) {
    Value& v = results[result];
    std::memcpy(v.mutable_data(), memory[from].host(), static_cast<std::size_t>(v.byte_size()));
    count_copy(v.byte_size());
  }
  for (std::size_t i = 0; i < results.size(); ++i) values_[step.outputs[i]] = std::move(results[i]);
  return OkStatus();
}

Status StepRunner::Submit(const PlanStep& step, hal::Work work) {
  work.executable = step.executable;
  work.cancel = &cancel_;
  if (previous_ != nullptr) work.waits.push_back(previous_);
  const hal::Device& device = *session_.devices[step.device];
  auto fence = session_.devices[step.device]->Submit(work);
  if (!fence.ok()) return fence.status();
  if (Status s = (*fence)->Wait(); !s.ok()) {
    return s.code() == Code::kCancelled ? s : s.WithContext(device.info().description);
  }
  const hal::Timing t = (*fence)->timing();
  previous_ = *fence;
  end_ns_ = std::max(end_ns_, t.end_ns);
  energy_known_ = energy_known_ && t.energy_pj.has_value();
  energy_pj_ += t.energy_pj.value_or(0);
  if (done_.size() == kMaxSteps) done_.erase(done_.begin(), done_.begin() + kMaxSteps / 2);
  done_.push_back({step.device, t});
  return OkStatus();
}

Result<bool> StepRunner::ReadBool(std::uint32_t slot, const char* what) const {
  const Value& v = At(slot);
  if (!v.is_tensor() || v.dtype() != tensor::DType::kBool || v.count() != 1) {
    return InvalidArgument(Cat(what, " '", Printable(plan_.slots()[slot].slot->name),
                               "': expected one bool, found ",
                               v.present() ? v.type().ToString() : std::string("nothing")));
  }
  return *static_cast<const std::uint8_t*>(v.data()) != 0;
}

Status StepRunner::Branch(const format::Step& step) {
  NPUKIT_ASSIGN_OR_RETURN(const bool yes, ReadBool(step.inputs[0], "condition"));
  return RunBlock(step.blocks[yes ? 0 : 1]);
}

Status StepRunner::Loop(const format::Step& step) {
  const std::size_t carried = step.inputs.size();
  std::int64_t trips = INT64_MAX;
  if (step.limits[0] != kNoSlot) {
    const Value& m = At(step.limits[0]);
    if (!m.is_tensor() || m.count() != 1 || !tensor::IsInteger(m.dtype()))
      return InvalidArgument("the trip count of a loop is not one integer");
    trips = tensor::ElementAsInt64(m, 0);
  }
  bool go_on = true;
  if (step.limits[1] != kNoSlot) {
    NPUKIT_ASSIGN_OR_RETURN(go_on, ReadBool(step.limits[1], "condition"));
  }
  std::vector<Value> state;
  for (const std::uint32_t s : step.inputs) state.push_back(At(s));
  std::vector<tensor::Stack> rows(step.outputs.size() - carried);
  for (std::int64_t i = 0; i < trips && go_on; ++i) {
    if (++iterations_ > session_.max_iterations) {
      const std::uint32_t made = step.outputs.empty() ? kNoSlot : step.outputs[0];
      return ResourceExhausted(
          Cat("the loop that makes '",
              made == kNoSlot ? "nothing" : Printable(plan_.slots()[made].slot->name),
              "': the loops of this run made more than ", session_.max_iterations, " iterations",
              kRaise));
    }
    if (cancel_.load(std::memory_order_relaxed)) return Status(Code::kCancelled, "cancelled");
    values_[step.params[0]] = Value::ScalarI64(i);
    NPUKIT_ASSIGN_OR_RETURN(Value condition, Value::Allocate(tensor::DType::kBool, {}));
    *static_cast<std::uint8_t*>(condition.mutable_data()) = 1;
    values_[step.params[1]] = std::move(condition);
    for (std::size_t k = 0; k < carried; ++k) values_[step.params[2 + k]] = std::move(state[k]);
    NPUKIT_RETURN_IF_ERROR(RunBlock(step.blocks[0]));
    NPUKIT_ASSIGN_OR_RETURN(go_on, ReadBool(step.results[0], "condition"));
    for (std::size_t k = 0; k < carried; ++k) state[k] = At(step.results[1 + k]);
    for (std::size_t k = 0; k < rows.size(); ++k) {
      if (Status s = rows[k].Add(At(step.results[1 + carried + k])); !s.ok())
        return s.WithContext(Cat("loop: iteration ", i, ": scanned output ", k));
    }
  }
  for (std::size_t k = 0; k < carried; ++k) values_[step.outputs[k]] = std::move(state[k]);
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const tensor::Type& row = plan_.slots()[step.results[1 + carried + k]].slot->type;
    auto stacked = rows[k].Finish(row);
    if (!stacked.ok()) return stacked.status().WithContext(Cat("loop: scanned output ", k));
    values_[step.outputs[carried + k]] = std::move(stacked).value();
  }
  return OkStatus();
}

}  // namespace npukit::runtime
