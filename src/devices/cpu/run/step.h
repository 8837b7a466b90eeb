// A step of a blob, checked and typed, on its way to becoming a prepared call; and the call itself.
//
// A call is made once at load and run any number of times, also at once by several works: it is
// immutable, allocates nothing and finds its memory through the work's Frame. Owned by the
// executable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/status.h"
#include "base/thread_pool.h"
#include "devices/cpu/blob/packed.h"
#include "ops/op_def.h"
#include "tensor/value.h"

namespace npukit::devices::cpu {

struct Kernels;

// Where something lies: bytes after one of a work's bases. Base 0 is address 0, so that a weight is
// a slot like any other.
struct Slot {
  std::uint32_t base = 0;
  std::uint64_t offset = 0;
};
inline constexpr std::uint32_t kAbsoluteBase = 0;
inline constexpr std::uint32_t kScratchBase = 1;
inline constexpr std::uint32_t kFirstBoundaryBase = 2;  // inputs, then outputs

inline Slot SlotOf(const void* p) { return {kAbsoluteBase, reinterpret_cast<std::uintptr_t>(p)}; }

// One work's memory.
struct Frame {
  const std::uintptr_t* bases = nullptr;
  ThreadPool* pool = nullptr;
  template <class T>
  T* At(Slot s) const {
    return reinterpret_cast<T*>(bases[s.base] + s.offset);  // NOLINT: an address is what a base is
  }
};

class Call {
 public:
  virtual ~Call() = default;
  virtual Status Run(const Frame& frame) const = 0;
  virtual const char* kernel() const = 0;                   // for profiles: "gemm", "reference"
  virtual std::uint64_t memory_bytes() const { return 0; }  // held beside the package
};

// An input or output of a step.
struct Operand {
  bool present = false;
  tensor::DType dtype = tensor::DType::kUndefined;
  tensor::Dims dims;
  Slot slot;
  Layout layout = Layout::kRaw;
  std::uint32_t groups = 1;
  const void* constant = nullptr;  // a weight's bytes, as `layout` says
  bool is_f32() const { return present && dtype == tensor::DType::kF32; }
  bool is_raw() const { return layout == Layout::kRaw; }
  std::int64_t count() const { return *tensor::ElementCount(dims); }  // checked at load
};

struct StepView {
  const ops::OpDef* def = nullptr;
  const ops::Attrs* attrs = nullptr;
  std::span<const ops::EpilogueStep> epilogue;
  std::vector<Operand> inputs;  // epilogue operands included
  std::vector<Operand> outputs;
  std::size_t own_inputs = 0;  // how many of `inputs` are the operator's, not the epilogue's
  // The operator's own input i, or null when absent.
  const Operand* Input(std::size_t i) const {
    return i < own_inputs && inputs[i].present ? &inputs[i] : nullptr;
  }
};

// What a prepare function may use and ask for.
class Preparation {
 public:
  Preparation(const Kernels& kernels, int threads, std::uint64_t scratch_bytes)
      : kernels_(kernels), threads_(threads), scratch_bytes_(scratch_bytes) {}
  const Kernels& kernels() const { return kernels_; }
  int threads() const { return threads_; }
  // Working memory for the duration of the step, 64-byte aligned; steps share it.
  Slot Workspace(std::uint64_t bytes) {
    if (bytes > workspace_bytes_) workspace_bytes_ = (bytes + 63) / 64 * 64;
    return {kScratchBase, scratch_bytes_};
  }
  std::uint64_t workspace_bytes() const { return workspace_bytes_; }

 private:
  const Kernels& kernels_;
  int threads_;
  std::uint64_t scratch_bytes_;
  std::uint64_t workspace_bytes_ = 0;
};

// A call for this step, or null when the function does not do it. Never null for PrepareReference,
// short of an error.
using PrepareFn = std::unique_ptr<Call> (*)(const StepView& step, Preparation& prep);
Result<std::unique_ptr<Call>> PrepareReference(const StepView& step);

// The first of kernels.inc that does the step, else its reference.
Result<std::unique_ptr<Call>> PrepareStep(const StepView& step, Preparation& prep);

}  // namespace npukit::devices::cpu
