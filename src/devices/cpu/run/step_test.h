// For tests: one operator as a blob of one step, run on the device with every buffer ending (or
// beginning) at a page that may not be touched, so that a kernel that reads or writes one byte too
// far crashes. That also gives pointers of every alignment a float can have.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <memory>
#include <vector>

#include "base/text.h"
#include "devices/cpu/blob/blob.h"
#include "devices/cpu/run/executable.h"
#include "devices/cpu/run/kernels/kernels.h"
#include "testing/cases.h"
#include "testing/random.h"

namespace npukit::devices::cpu {

class GuardedBuffer {
 public:
  GuardedBuffer(std::uint64_t bytes, bool at_end) {
    constexpr std::uint64_t kPage = 4096;
    const std::uint64_t pages = (bytes + kPage - 1) / kPage;
    mapped_ = (pages + 2) * kPage;
    base_ = static_cast<std::byte*>(
        mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    NPUKIT_CHECK(base_ != MAP_FAILED);
    if (pages > 0)
      NPUKIT_CHECK(mprotect(base_ + kPage, pages * kPage, PROT_READ | PROT_WRITE) == 0);
    data_ = at_end ? base_ + (pages + 1) * kPage - bytes : base_ + kPage;
  }
  ~GuardedBuffer() { munmap(base_, mapped_); }
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;
  std::byte* data() { return data_; }

 private:
  std::byte* base_ = nullptr;
  std::byte* data_ = nullptr;
  std::uint64_t mapped_ = 0;
};

struct TestInput {
  tensor::Value value;  // absent: an optional input that is not given
  bool constant = false;
  Layout layout = Layout::kRaw;
  std::uint32_t groups = 1;
};

struct TestStep {
  const ops::OpDef* op = nullptr;
  ops::Attrs attrs;
  std::vector<ops::EpilogueStep> epilogue;
  std::vector<TestInput> inputs;
};

inline Result<std::vector<tensor::Value>> RunByReference(const TestStep& s) {
  std::vector<tensor::Value> inputs;
  for (const TestInput& in : s.inputs) inputs.push_back(in.value);
  testing::Results results;
  NPUKIT_RETURN_IF_ERROR(ops::Evaluate(*s.op, s.attrs, s.epilogue, inputs, results));
  return results.values;
}

struct DeviceRun {
  std::vector<tensor::Value> outputs;
  std::string kernel;
};

// Outputs start as NaN bytes, so that what a kernel leaves out shows.
inline Result<DeviceRun> RunOnDevice(const TestStep& s, Target target, ThreadPool& pool,
                                     bool at_end) {
  Blob blob;
  BlobStep step;
  step.op = s.op->name;
  step.attrs = s.attrs.all();
  for (const ops::EpilogueStep& e : s.epilogue) {
    step.epilogue.push_back({std::string(e.op->name), e.attrs.all(), e.operand, e.swapped});
  }
  std::vector<std::unique_ptr<GuardedBuffer>> weight_memory;
  std::vector<hal::WeightView> weights;
  std::vector<const tensor::Value*> boundary;
  std::vector<tensor::Type> types;
  std::vector<const tensor::Value*> constants;
  for (const TestInput& in : s.inputs) {
    if (!in.value.present()) {
      step.inputs.push_back(-1);
      types.emplace_back();
      constants.push_back(nullptr);
      continue;
    }
    BlobTensor t{.dtype = in.value.dtype(),
                 .dims = in.value.dims(),
                 .layout = in.layout,
                 .groups = in.groups};
    t.place = in.constant ? Place::kWeight : Place::kInput;
    t.index = static_cast<std::uint32_t>(in.constant ? weights.size() : boundary.size());
    const auto id = static_cast<std::uint32_t>(blob.tensors.size());
    if (in.constant) {
      NPUKIT_ASSIGN_OR_RETURN(const std::uint64_t bytes, PlacedBytes(t));
      auto memory = std::make_unique<GuardedBuffer>(bytes, at_end);
      if (in.layout == Layout::kRaw) {
        if (bytes > 0) std::memcpy(memory->data(), in.value.data(), bytes);
      } else {
        PackPanels(*SpecFor(in.layout, t.dims, t.groups),
                   static_cast<const float*>(in.value.data()),
                   reinterpret_cast<float*>(memory->data()));
      }
      weights.push_back(
          {.id = weights.size(), .bytes = {memory->data(), static_cast<std::size_t>(bytes)}});
      weight_memory.push_back(std::move(memory));
    } else {
      boundary.push_back(&in.value);
      blob.inputs.push_back(id);
    }
    step.inputs.push_back(static_cast<std::int32_t>(id));
    types.push_back(in.value.type());
    constants.push_back(in.constant ? &in.value : nullptr);
    blob.tensors.push_back(std::move(t));
  }
  std::vector<tensor::Type> outputs(static_cast<std::size_t>(s.op->outputs));
  NPUKIT_RETURN_IF_ERROR(ops::Infer(*s.op, s.attrs, s.epilogue, types, constants, outputs));
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto id = static_cast<std::uint32_t>(blob.tensors.size());
    blob.tensors.push_back({.dtype = outputs[i].dtype,
                            .dims = outputs[i].dims(),
                            .place = Place::kOutput,
                            .index = static_cast<std::uint32_t>(i)});
    blob.outputs.push_back(id);
    step.outputs.push_back(id);
  }
  blob.steps.push_back(std::move(step));
  blob.weights = static_cast<std::uint32_t>(weights.size());

  const std::vector<std::byte> bytes = Write(blob);
  NPUKIT_ASSIGN_OR_RETURN(const auto exe, CpuExecutable::Load(bytes, weights, *KernelsFor(target),
                                                              pool.threads(), target::Profile()));
  DeviceRun run;
  run.kernel = exe->steps()[0].kernel;
  GuardedBuffer scratch(exe->scratch_bytes(), at_end);
  std::vector<std::uintptr_t> bases = {0, reinterpret_cast<std::uintptr_t>(scratch.data())};
  std::vector<std::unique_ptr<GuardedBuffer>> memory;
  for (const tensor::Value* v : boundary) {
    memory.push_back(std::make_unique<GuardedBuffer>(v->byte_size(), at_end));
    if (v->byte_size() > 0) std::memcpy(memory.back()->data(), v->data(), v->byte_size());
    bases.push_back(reinterpret_cast<std::uintptr_t>(memory.back()->data()));
  }
  for (const tensor::Type& t : outputs) {
    memory.push_back(std::make_unique<GuardedBuffer>(*t.bytes(), at_end));
    if (*t.bytes() > 0) std::memset(memory.back()->data(), 0xFF, *t.bytes());
    bases.push_back(reinterpret_cast<std::uintptr_t>(memory.back()->data()));
  }
  NPUKIT_RETURN_IF_ERROR(exe->Run(Frame{bases.data(), &pool}, nullptr, nullptr));
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    NPUKIT_ASSIGN_OR_RETURN(tensor::Value v,
                            tensor::Value::Allocate(outputs[i].dtype, outputs[i].dims()));
    if (v.byte_size() > 0)
      std::memcpy(v.mutable_data(), memory[boundary.size() + i]->data(), v.byte_size());
    run.outputs.push_back(std::move(v));
  }
  return run;
}

class Random : public testing::Random {
 public:
  using testing::Random::Random;
  std::int64_t Int(std::int64_t from, std::int64_t to) { return Between(from, to); }
  bool Coin() { return OneIn(2); }
  tensor::Value Floats(tensor::Dims dims, float from = -2, float to = 2) {
    auto v = tensor::Value::Allocate(tensor::DType::kF32, std::move(dims)).value();
    for (float& x : v.as_mutable<float>()) x = static_cast<float>(Real(from, to));
    return v;
  }
};

// Device against reference on every target, both ends guarded, one and three threads. `kernel`: the
// one that must take the step ("" for any). Values within `relative` of the largest magnitude, as
// sums of many terms round differently.
inline void ExpectLikeReference(const TestStep& s, const std::string& kernel,
                                double relative = 2e-6) {
  auto expected = RunByReference(s);
  ASSERT_TRUE(expected.ok()) << expected.status().message();
  static ThreadPool& one = *new ThreadPool(1);
  static ThreadPool& three = *new ThreadPool(3);
  for (const Target target : SupportedTargets()) {
    for (const bool at_end : {true, false}) {
      auto run = RunOnDevice(s, target, at_end ? three : one, at_end);
      ASSERT_TRUE(run.ok()) << TargetName(target) << ": " << run.status().message();
      if (!kernel.empty()) {
        ASSERT_EQ(run->kernel, kernel) << s.op->name;
      }
      for (std::size_t i = 0; i < expected->size(); ++i) {
        const tensor::Value& want = (*expected)[i];
        double most = 0;
        if (want.dtype() == tensor::DType::kF32) {
          for (const float x : want.as<float>())
            most = std::isfinite(x) ? std::max(most, std::abs(double{x})) : most;
        }
        const Status same = testing::SameValue(run->outputs[i], want, {relative * most, relative});
        ASSERT_TRUE(same.ok()) << TargetName(target)
                               << (at_end ? ", guarded end: " : ", guarded begin: ")
                               << same.message();
      }
    }
  }
}

}  // namespace npukit::devices::cpu
