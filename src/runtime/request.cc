// One run: choose a program, bind memory, submit every step at once (each waits for the one before
// on its device's queue), wait for the last. No thread belongs to a request; the caller of Wait
// does what is left to do.
#include <algorithm>
#include <cstring>

#include "base/env.h"
#include "base/text.h"
#include "runtime/choose.h"
#include "runtime/request_impl.h"
#include "tensor/accepts.h"

namespace npukit::runtime {
namespace {

Result<std::size_t> FindName(const std::vector<format::ValueSpec>& specs, const std::string& name,
                             const char* what) {
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (specs[i].name == name) return i;
  }
  std::vector<std::string> names;
  for (const format::ValueSpec& s : specs) names.push_back(Printable(s.name));
  return InvalidArgument(
      Cat("no ", what, " '", Printable(name), "'; the model has: ", Join(names, ", ")));
}

}  // namespace

Result<std::shared_ptr<const Plan>> Request::Impl::Choose() const {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].bound)
      return InvalidArgument(Cat("input '", Printable(head().inputs[i].name), "' is not bound"));
  }
  for (const std::shared_ptr<const Plan>& p : session->plans) {
    const std::vector<tensor::Type>& types = p->program().input_types;
    bool match = true;
    tensor::Symbols symbols;
    for (std::size_t i = 0; match && i < inputs.size(); ++i)
      match = tensor::Accepts(types[i], inputs[i].value.type(), symbols);
    if (match) return p;
  }
  std::string found;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    found += Cat(i > 0 ? " " : "", Printable(head().inputs[i].name), "=",
                 inputs[i].value.type().ToString());
  }
  return InvalidArgument(Cat("no program for ", found, "; this session has ",
                             DescribePrograms(head(), session->programs),
                             ": use one of these shapes, or compile with --shape"));
}

Status Request::Impl::CheckOutputs(std::span<const tensor::Type> types) const {
  std::vector<std::uint64_t> needed;
  for (const tensor::Type& t : types) needed.push_back(t.is_static() ? t.bytes().value_or(0) : 0);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].data == nullptr) continue;
    const std::string name = Printable(head().outputs[i].name);
    if (!types[i].is_static() || !types[i].bytes()) {
      return Unsupported(Cat("output '", name, "' is ", types[i].ToString(),
                             ", which fits no bound buffer: leave it unbound"));
    }
    if (outputs[i].bytes < needed[i]) {
      return InvalidArgument(Cat("output '", name, "': expected at least ", needed[i],
                                 " bytes for ", types[i].ToString(), ", found ", outputs[i].bytes));
    }
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      if (Overlap(outputs[i].data, needed[i], inputs[k].data, inputs[k].bytes)) {
        return InvalidArgument(Cat("output '", name, "' is bound over input '",
                                   Printable(head().inputs[k].name),
                                   "': an input may still be read after an output is written"));
      }
    }
    for (std::size_t k = 0; k < i; ++k) {
      if (Overlap(outputs[i].data, needed[i], outputs[k].data, needed[k])) {
        return InvalidArgument(Cat("output '", name, "' is bound over output '",
                                   Printable(head().outputs[k].name), "'"));
      }
    }
  }
  return OkStatus();
}

Result<SharedMemory*> Request::Impl::Own(std::size_t slot) {
  if (!own[slot].valid()) {
    const PlanSlot& s = plan->slots()[slot];
    NPUKIT_ASSIGN_OR_RETURN(own[slot],
                            SharedMemory::Allocate(session->devices, s.devices, s.bytes));
  }
  return &own[slot];
}

Status Request::Impl::PrepareInput(std::size_t slot, const BoundInput& bound) {
  const PlanSlot& s = plan->slots()[slot];
  if (s.bytes > 0) {
    // Const is cast away for the devices' one kind of buffer; Plan::Bind made sure that no step
    // writes an input.
    auto memory =
        SharedMemory::Import(session->devices, s.devices, const_cast<void*>(bound.data), s.bytes);
    if (memory.ok()) {
      io[slot] = std::move(*memory);
      return OkStatus();
    }
    if (memory.status().code() != Code::kUnsupported) return memory.status();
  }
  NPUKIT_ASSIGN_OR_RETURN(SharedMemory * staging, Own(slot));
  if (s.bytes > 0) {
    std::memcpy(staging->host(), bound.data, s.bytes);
    CountCopy(s.bytes);
  }
  io[slot] = *staging;
  return OkStatus();
}

Status Request::Impl::PrepareOutput(std::size_t slot, const BoundOutput& bound) {
  const PlanSlot& s = plan->slots()[slot];
  if (bound.data != nullptr && s.bytes > 0) {
    results[s.slot->index] = bound.data;
    auto memory = SharedMemory::Import(session->devices, s.devices, bound.data, s.bytes);
    if (memory.ok()) {
      io[slot] = std::move(*memory);
      return OkStatus();
    }
    if (memory.status().code() != Code::kUnsupported) return memory.status();
    NPUKIT_ASSIGN_OR_RETURN(SharedMemory * staging, Own(slot));
    copy_back.push_back({staging->host(), bound.data, s.bytes});
    io[slot] = *staging;
    return OkStatus();
  }
  NPUKIT_ASSIGN_OR_RETURN(SharedMemory * memory, Own(slot));
  results[s.slot->index] = memory->host();
  io[slot] = *memory;
  return OkStatus();
}

Status Request::Impl::PrepareMemory() {
  const std::vector<PlanSlot>& slots = plan->slots();
  io.assign(slots.size(), {});
  own.resize(slots.size());
  results.assign(outputs.size(), nullptr);
  copy_back.clear();
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const format::Slot& slot = *slots[i].slot;
    if (slot.kind == format::SlotKind::kInput)
      NPUKIT_RETURN_IF_ERROR(PrepareInput(i, inputs[slot.index]));
    if (slot.kind == format::SlotKind::kOutput)
      NPUKIT_RETURN_IF_ERROR(PrepareOutput(i, outputs[slot.index]));
  }
  return OkStatus();
}

std::byte* Request::Impl::HostOf(std::uint32_t slot) const {
  const PlanSlot& s = plan->slots()[slot];
  switch (s.slot->kind) {
    case format::SlotKind::kFixed:
      return arena.host() + s.slot->offset;
    case format::SlotKind::kConstant:
      return s.constant.host();
    default:
      return io[slot].host();
  }
}

hal::Binding Request::Impl::BindingOf(std::uint32_t slot, std::size_t device) const {
  const PlanSlot& s = plan->slots()[slot];
  switch (s.slot->kind) {
    case format::SlotKind::kFixed:
      return {arena.on(device), s.slot->offset, s.slot->type};
    case format::SlotKind::kConstant:
      return {s.constant.on(device), 0, s.slot->type};
    default:
      return {io[slot].on(device), 0, s.slot->type};
  }
}

Result<hal::FencePtr> Request::Impl::SubmitStep(const PlanStep& step,
                                                const hal::FencePtr& previous) {
  if (step.kind == format::StepKind::kCopy) {
    const std::uint64_t bytes = plan->slots()[step.inputs[0]].bytes;
    CountCopy(bytes);
    HostQueue::Copy copy{.from = HostOf(step.inputs[0]),
                         .to = HostOf(step.outputs[0]),
                         .bytes = static_cast<std::size_t>(bytes),
                         .cancel = &cancel};
    if (previous != nullptr) copy.waits.push_back(previous);
    return session->host->Submit(std::move(copy));
  }
  hal::Work work;
  work.executable = step.executable;
  for (const std::uint32_t s : step.inputs) work.inputs.push_back(BindingOf(s, step.device));
  for (const std::uint32_t s : step.outputs) work.outputs.push_back(BindingOf(s, step.device));
  if (step.scratch_bytes > 0) {
    work.scratch = {
        arena.on(step.device), plan->scratch_offset(),
        tensor::Type::Tensor(tensor::DType::kU8,
                             tensor::Dims{static_cast<std::int64_t>(step.scratch_bytes)})};
  }
  if (previous != nullptr) work.waits.push_back(previous);
  work.cancel = &cancel;
  if (profile) work.step_ns = &step_ns[fences.size()];
  return session->devices[step.device]->Submit(work);
}

Status Request::Impl::Finish() {
  if (plan->step_by_step()) return FinishStepByStep();
  if (!fences.empty())
    fences.back()->Wait().ok();  // the chain's end; the loop below asks each how it went
  Status first;
  for (std::size_t i = 0; i < fences.size(); ++i) {
    Status s = fences[i]->Wait();
    if (s.ok() || !first.ok()) continue;
    const PlanStep& step = plan->steps()[i];
    const std::string where = step.kind == format::StepKind::kCall
                                  ? session->devices[step.device]->info().description
                                  : std::string("copy");
    first = s.code() == Code::kCancelled ? s : s.WithContext(Cat("step ", i, " (", where, ")"));
  }
  // Refused half-way, nothing was computed whole: staging memory is not an answer.
  if (first.ok() && fences.size() == plan->steps().size()) {
    for (const CopyBack& c : copy_back) {
      std::memcpy(c.to, c.from, c.bytes);
      CountCopy(c.bytes);
    }
    FillAccount();
  }
  fences.clear();
  io.clear();
  session->arenas.GiveBack(std::move(arena));
  arena = {};
  state = State::kDone;
  last = first;
  return first;
}

Request::Request(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Request::~Request() = default;

Status Request::BindInput(const std::string& name, tensor::DType t, const tensor::Dims& dims,
                          const void* data, std::uint64_t bytes) {
  const auto count = tensor::ElementCount(dims);
  const auto expected =
      count ? tensor::StorageBytes(t, static_cast<std::uint64_t>(*count)) : std::nullopt;
  const std::string where = Cat("input '", Printable(name), "': ");
  if (!expected) {
    return InvalidArgument(Cat(where, "no tensor of bytes has the type ", tensor::DTypeName(t), "[",
                               JoinInts(dims, ", "), "]"));
  }
  NPUKIT_RETURN_IF_ERROR(impl_->CheckInput(name, tensor::Type::Tensor(t, dims)).status());
  if (bytes != *expected) {
    return InvalidArgument(Cat(where, "expected ", *expected, " bytes for ",
                               tensor::Type::Tensor(t, dims).ToString(), ", found ", bytes));
  }
  if (data == nullptr && bytes > 0) return InvalidArgument(Cat(where, "no data"));
  return BindInput(name, tensor::Value::Borrow(t, dims, data));
}

Result<std::size_t> Request::Impl::CheckInput(const std::string& name,
                                              const tensor::Type& found) const {
  if (state == State::kBusy) return InvalidArgument("the request is running: wait before binding");
  NPUKIT_ASSIGN_OR_RETURN(const std::size_t index, FindName(head().inputs, name, "input"));
  std::vector<std::string> expected;
  for (const std::shared_ptr<const Plan>& p : session->plans) {
    const tensor::Type& type = p->program().input_types[index];
    tensor::Symbols symbols;
    if (tensor::Accepts(type, found, symbols)) return index;
    std::string text = type.ToString();
    if (std::find(expected.begin(), expected.end(), text) == expected.end())
      expected.push_back(std::move(text));
  }
  return InvalidArgument(Cat("input '", Printable(name), "': expected ", Join(expected, " or "),
                             ", found ", found.ToString()));
}

Status Request::BindInput(const std::string& name, tensor::Value value) {
  if (!value.present()) return InvalidArgument(Cat("input '", Printable(name), "': no value"));
  NPUKIT_ASSIGN_OR_RETURN(const std::size_t index, impl_->CheckInput(name, value.type()));
  BoundInput& in = impl_->inputs[index];
  in = {.bound = true,
        .dtype = value.dtype(),
        .dims = value.dims(),
        .data = value.data(),
        .bytes = value.byte_size(),
        .value = {}};
  in.value = std::move(value);
  return OkStatus();
}

Status Request::BindOutput(const std::string& name, void* data, std::uint64_t bytes) {
  Impl& r = *impl_;
  if (r.state == Impl::State::kBusy)
    return InvalidArgument("the request is running: wait before binding");
  NPUKIT_ASSIGN_OR_RETURN(const std::size_t index, FindName(r.head().outputs, name, "output"));
  if (data == nullptr && bytes > 0)
    return InvalidArgument(Cat("output '", Printable(name), "': no memory"));
  r.outputs[index] = {.data = data, .bytes = bytes};
  return OkStatus();
}

Status Request::Submit() {
  Impl& r = *impl_;
  if (r.state == Impl::State::kBusy)
    return InvalidArgument("the request is running: wait before submitting it again");
  NPUKIT_ASSIGN_OR_RETURN(std::shared_ptr<const Plan> plan, r.Choose());
  if (!plan->step_by_step()) NPUKIT_RETURN_IF_ERROR(r.CheckOutputs(plan->program().output_types));
  if (r.plan != plan) r.own.clear();
  r.plan = std::move(plan);
  r.account = {};
  r.account.program = r.plan->program_index();
  const format::Program& program = r.plan->program();
  r.account.devices = program.devices;
  r.account.precision = program.precision;
  r.account.compute_units = program.compute_units;
  r.last = InvalidArgument("the run could not be submitted");
  r.state = Impl::State::kDone;
  r.submitted_ns = RealEnv().NowNs();
  r.cancel.store(false);
  r.arrival_ns = r.session->virtual_clock ? r.session->virtual_now_ns.load() : r.submitted_ns;
  if (r.plan->step_by_step()) return r.SubmitStepByStep();
  NPUKIT_RETURN_IF_ERROR(r.PrepareMemory());
  NPUKIT_ASSIGN_OR_RETURN(r.arena, r.session->arenas.Take());
  hal::FencePtr previous;
  if (r.session->virtual_clock) {
    previous = hal::DoneFence(
        OkStatus(),
        {.start_ns = r.arrival_ns, .end_ns = r.arrival_ns, .kind = target::Kind::kModelled});
  }
  r.step_ns.assign(r.profile ? r.plan->steps().size() : 0, {});
  for (const PlanStep& step : r.plan->steps()) {
    auto fence = r.SubmitStep(step, previous);
    if (!fence.ok()) {
      r.cancel.store(true);
      r.Finish().ok();  // what was submitted ends first; its status matters less than why the rest
                        // was refused
      r.last = fence.status().WithContext(Cat("step ", &step - r.plan->steps().data()));
      return r.last;
    }
    previous = *fence;
    r.fences.push_back(std::move(*fence));
  }
  r.state = Impl::State::kBusy;
  return OkStatus();
}

Status Request::Wait() {
  Impl& r = *impl_;
  if (r.state == Impl::State::kNew) return InvalidArgument("nothing was submitted");
  if (r.state == Impl::State::kDone) return r.last;
  return r.Finish();
}

void Request::Profile(bool on) { impl_->profile = on; }
void Request::Cancel() { impl_->cancel.store(true); }

Result<tensor::Value> Request::Output(const std::string& name) const {
  const Impl& r = *impl_;
  NPUKIT_ASSIGN_OR_RETURN(const std::size_t index, FindName(r.head().outputs, name, "output"));
  NPUKIT_RETURN_IF_ERROR(Completed());
  if (r.plan->step_by_step()) return r.values[index];
  const tensor::Type& type = r.plan->program().output_types[index];
  return tensor::Value::BorrowMutable(type.dtype, type.dims(), r.results[index]);
}

Status Request::Completed() const {
  switch (impl_->state) {
    case Impl::State::kNew:
      return InvalidArgument("nothing was submitted");
    case Impl::State::kBusy:
      return InvalidArgument("the request is running: wait for it first");
    case Impl::State::kDone:
      return impl_->last;
  }
  return impl_->last;
}

const Account& Request::account() const { return impl_->account; }

Result<std::unique_ptr<Request>> Session::NewRequest() {
  return std::unique_ptr<Request>(new Request(std::make_unique<Request::Impl>(impl_)));
}

}  // namespace npukit::runtime
