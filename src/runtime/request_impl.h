// What a Request holds: bindings, the run under way, its results. Inside runtime alone; the parts
// of a run are in request.cc (submitted whole), request_steps.cc (step by step) and
// request_account.cc.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "runtime/session_impl.h"
#include "runtime/step_runner.h"

namespace npukit::runtime {

// Do two stretches of memory share a byte?
inline bool Overlap(const void* a, std::uint64_t a_bytes, const void* b, std::uint64_t b_bytes) {
  const auto x = reinterpret_cast<std::uintptr_t>(a);
  const auto y = reinterpret_cast<std::uintptr_t>(b);
  return a_bytes > 0 && b_bytes > 0 && x < y + b_bytes && y < x + a_bytes;
}

struct BoundInput {
  bool bound = false;
  tensor::DType dtype = tensor::DType::kUndefined;
  tensor::Dims dims;
  const void* data = nullptr;
  std::uint64_t bytes = 0;
  tensor::Value value;  // the same, of any kind
};

struct BoundOutput {
  void* data = nullptr;  // null: the request's own memory
  std::uint64_t bytes = 0;
};

struct CopyBack {
  const std::byte* from;
  void* to;
  std::uint64_t bytes;
};

struct Request::Impl {
  enum class State : std::uint8_t { kNew, kBusy, kDone };

  explicit Impl(std::shared_ptr<Session::Impl> s)
      : session(std::move(s)),
        inputs(session->package->head().inputs.size()),
        outputs(session->package->head().outputs.size()) {}
  ~Impl() {
    if (state == State::kBusy) {
      cancel.store(true);
      Finish().ok();  // devices may still be writing to the caller's memory
    }
  }

  const format::Head& head() const { return session->package->head(); }
  Result<std::shared_ptr<const Plan>> Choose() const;
  // The input of that name, if a program takes the type.
  Result<std::size_t> CheckInput(const std::string& name, const tensor::Type& found) const;
  // Bound buffers hold what the run gives, and lie neither over inputs nor over each other.
  // `types`: of all outputs.
  Status CheckOutputs(std::span<const tensor::Type> types) const;
  Status PrepareMemory();
  Status PrepareInput(std::size_t slot, const BoundInput& bound);
  Status PrepareOutput(std::size_t slot, const BoundOutput& bound);
  Result<SharedMemory*> Own(std::size_t slot);
  Result<hal::FencePtr> SubmitStep(const PlanStep& step, const hal::FencePtr& previous);
  std::byte* HostOf(std::uint32_t slot) const;
  hal::Binding BindingOf(std::uint32_t slot, std::size_t device) const;
  Status SubmitStepByStep();
  Status FinishStepByStep();
  Status CopyOutValues();
  Status Finish();
  void FillAccount();
  void FillAccountOfSteps();
  void AdvanceVirtualNow(std::int64_t end_ns);
  void CountCopy(std::uint64_t bytes) {
    ++account.copies;
    account.bytes_copied += bytes;
  }

  std::shared_ptr<Session::Impl> session;
  std::vector<BoundInput> inputs;
  std::vector<BoundOutput> outputs;
  State state = State::kNew;
  std::atomic<bool> cancel{false};  // the only member other threads touch

  // The run.
  std::shared_ptr<const Plan> plan;
  SharedMemory arena;
  std::vector<SharedMemory> io;   // by slot: inputs and outputs
  std::vector<SharedMemory> own;  // by slot: kept from run to run while the plan stays
  std::vector<CopyBack> copy_back;
  std::vector<hal::FencePtr> fences;  // one per step
  bool profile = false;
  std::vector<std::vector<std::int64_t>> step_ns;  // one per step, when `profile`
  std::int64_t submitted_ns = 0;
  std::int64_t arrival_ns = 0;         // by the program's clock
  std::vector<void*> results;          // by output
  std::unique_ptr<StepRunner> runner;  // of a program run step by step
  std::unique_ptr<HostQueue> walker;   // its thread, made for the first such run
  std::vector<tensor::Value> values;   // its outputs
  Status last;
  Account account;
};

}  // namespace npukit::runtime
