// A device for the runtime's tests: y = scale * x + shift (+ weight), on a queue of its own, with
// every property that a real device may have and the tests need to choose: no import, a failing
// step, a held queue, a modelled cost.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/env.h"
#include "base/hash.h"
#include "base/text.h"
#include "format/reader.h"
#include "format/writer.h"
#include "hal/device.h"
#include "hal/host_memory.h"
#include "hal/signal_fence.h"

namespace npukit::runtime::testing {

struct FakeBlob {
  std::uint32_t magic = 0x454B4146u;  // "FAKE"
  float scale = 1;
  float shift = 0;
  std::uint32_t count = 0;       // elements of input and output, fp32
  std::int64_t cost_ns = 1000;   // on the virtual clock
  std::uint32_t fail = 0;        // 1: the work fails; 2: Submit refuses it
  std::uint32_t use_weight = 0;  // adds weight 0
  std::uint32_t scratch = 0;     // bytes; the work fills them, so overlap shows
  std::uint32_t reserved = 0;
};

class FakeExecutable final : public hal::Executable {
 public:
  FakeExecutable(const FakeBlob& b, std::vector<hal::WeightView> w)
      : blob(b), weights(std::move(w)) {}
  Result<std::vector<tensor::Type>> Prepare(std::span<const tensor::Type> inputs) override {
    if (inputs.size() != 1 || !inputs[0].is_static() || inputs[0].dtype != tensor::DType::kF32 ||
        inputs[0].bytes() != blob.count * sizeof(float)) {
      return Unsupported(Cat("fake: expected one fp32 input of ", blob.count, " elements"));
    }
    return std::vector<tensor::Type>{inputs[0]};
  }
  std::uint64_t memory_bytes() const override { return sizeof blob; }
  std::uint64_t scratch_bytes() const override { return blob.scratch; }
  std::vector<hal::StepInfo> steps() const override {
    hal::StepInfo step;
    step.name = "affine";
    step.macs = blob.count;
    return {step};
  }
  const FakeBlob blob;
  const std::vector<hal::WeightView> weights;
};

class FakeDevice final : public hal::Device {
 public:
  struct Options {
    std::string name = "fake_npu";
    std::string device_class = "NPU";
    bool can_import = true;
    std::size_t fail_allocation = 0;  // the n-th Allocate fails, 1-based; 0: none
  };
  FakeDevice(Options options, bool virtual_clock)
      : options_(std::move(options)), virtual_clock_(virtual_clock) {
    info_.name = options_.name;
    info_.device_class = options_.device_class;
    info_.description = options_.device_class + " (fake)";
    info_.simulated = true;
    thread_ = std::thread([this] { Loop(); });
  }
  ~FakeDevice() override {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      stop_ = true;
      held_ = false;
    }
    wake_.notify_all();
    thread_.join();
  }
  const hal::DeviceInfo& info() const override { return info_; }
  Result<hal::BufferPtr> Allocate(const hal::BufferSpec& spec) override {
    std::lock_guard<std::mutex> lock(mutex_);
    if (++allocations_ == options_.fail_allocation)
      return Status(Code::kOutOfMemory, "fake: out of memory");
    return hal::AllocateHost(spec);
  }
  Result<hal::BufferPtr> Import(const hal::ExternalMemory& memory) override {
    if (!options_.can_import) return Unsupported("fake: works on its own memory only");
    return hal::ImportHost(memory);
  }
  Result<hal::ExecutablePtr> Load(std::span<const std::byte> blob,
                                  std::span<const hal::WeightView> weights) override {
    FakeBlob b;
    if (blob.size() != sizeof b)
      return DataCorrupt(Cat("fake: expected a blob of ", sizeof b, " bytes, found ", blob.size()));
    std::memcpy(&b, blob.data(), sizeof b);
    if (b.magic != FakeBlob().magic) return DataCorrupt("fake: not a blob of this device");
    return hal::ExecutablePtr(std::make_shared<FakeExecutable>(
        b, std::vector<hal::WeightView>(weights.begin(), weights.end())));
  }
  Result<hal::FencePtr> Submit(const hal::Work& work) override {
    const auto& e = static_cast<const FakeExecutable&>(*work.executable);
    if (e.blob.fail == 2) return Status(Code::kDeviceLost, "fake: the queue is gone");
    auto fence = std::make_shared<hal::SignalFence>();
    {
      std::lock_guard<std::mutex> lock(mutex_);
      tasks_.push_back({work, fence});
    }
    wake_.notify_one();
    return hal::FencePtr(fence);
  }
  hal::Telemetry Sample() const override { return {}; }
  // While held, the queue takes nothing: what is submitted stays in flight.
  void Hold(bool held) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      held_ = held;
    }
    wake_.notify_all();
  }

 private:
  struct Task {
    hal::Work work;
    std::shared_ptr<hal::SignalFence> fence;
  };
  void Loop() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
      wake_.wait(lock, [&] { return stop_ || (!held_ && !tasks_.empty()); });
      if (tasks_.empty()) return;
      Task task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      Do(task);
      task = {};
      lock.lock();
    }
  }
  void Do(const Task& task) {
    const hal::Work& w = task.work;
    const auto& e = static_cast<const FakeExecutable&>(*w.executable);
    Status status;
    hal::Timing t;
    t.start_ns = virtual_free_ns_;
    for (const hal::FencePtr& f : w.waits) {
      if (Status s = f->Wait(); !s.ok() && status.ok()) status = s;
      t.start_ns = std::max(t.start_ns, f->timing().end_ns);
    }
    if (!virtual_clock_) t.start_ns = RealEnv().NowNs();
    if (status.ok() && w.cancel != nullptr && w.cancel->load())
      status = Status(Code::kCancelled, "cancelled");
    if (status.ok() && e.blob.fail == 1)
      status = Status(Code::kDeviceLost, "fake: the work failed");
    if (status.ok()) Compute(w, e);
    t.end_ns = virtual_clock_ ? t.start_ns + e.blob.cost_ns : RealEnv().NowNs();
    t.kind = virtual_clock_ ? target::Kind::kModelled : target::Kind::kMeasured;
    if (virtual_clock_) {
      virtual_free_ns_ = t.end_ns;
      t.energy_pj = static_cast<double>(e.blob.cost_ns) * 2;
    }
    task.fence->Signal(std::move(status), t);
  }
  static void Compute(const hal::Work& w, const FakeExecutable& e) {
    const auto* x = reinterpret_cast<const float*>(w.inputs[0].buffer->host() + w.inputs[0].offset);
    auto* y = reinterpret_cast<float*>(w.outputs[0].buffer->host() + w.outputs[0].offset);
    if (e.blob.scratch > 0)
      std::memset(w.scratch.buffer->host() + w.scratch.offset, 0x5A, e.blob.scratch);
    for (std::uint32_t i = 0; i < e.blob.count; ++i) {
      float v = e.blob.scale * x[i] + e.blob.shift;
      if (e.blob.use_weight != 0) v += reinterpret_cast<const float*>(e.weights[0].bytes.data())[i];
      y[i] = v;
    }
    if (w.step_ns != nullptr) *w.step_ns = {e.blob.cost_ns};
  }

  const Options options_;
  const bool virtual_clock_;
  hal::DeviceInfo info_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Task> tasks_;
  bool stop_ = false;
  bool held_ = false;
  std::size_t allocations_ = 0;
  std::int64_t virtual_free_ns_ = 0;  // the queue thread's
  std::thread thread_;
};

// Builds packages of fake blobs, step by step: one program is a chain of calls over tensors of one
// length.
class FakePackage {
 public:
  format::Head head;
  format::PackageWriter writer;

  explicit FakePackage(const std::string& target = "fake_chip") {
    head.model_name = "fake";
    head.tool_version = "test";
    head.profile.name = target;
    head.inputs = {{"x", tensor::Type::Tensor(tensor::DType::kF32,
                                              tensor::Shape({tensor::Dim::Symbol("n")}))}};
    head.outputs = {{"y", tensor::Type::Tensor(tensor::DType::kF32,
                                               tensor::Shape({tensor::Dim::Symbol("n")}))}};
  }

  struct Call {
    std::string device;  // "fake_npu", "fake_cpu"
    FakeBlob blob;
    std::vector<float> weight;
  };
  // x -> call 0 -> call 1 -> ... -> y.
  format::Program& AddChain(const std::string& devices, std::uint32_t n,
                            const std::vector<Call>& calls, const std::string& precision = "fp32") {
    const auto type = tensor::Type::Tensor(tensor::DType::kF32, tensor::Dims{n});
    format::Program p;
    p.devices = devices;
    p.precision = precision;
    p.input_types = {type};
    p.output_types = {type};
    p.compute_units = {.npu = 2, .cpu = 1, .folded = 1, .total = 4};
    p.slots.push_back({.name = "x", .type = type, .kind = format::SlotKind::kInput, .index = 0});
    p.slots.push_back({.name = "y", .type = type, .kind = format::SlotKind::kOutput, .index = 0});
    const std::uint64_t stride = (n * sizeof(float) + 63) / 64 * 64;
    std::uint32_t from = 0;
    format::Block block;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      FakeBlob blob = calls[i].blob;
      blob.count = n;
      format::ExecutableInfo e;
      e.device = calls[i].device;
      e.scratch_bytes = blob.scratch;
      if (!calls[i].weight.empty()) {
        blob.use_weight = 1;
        auto bytes =
            std::make_shared<std::vector<std::byte>>(calls[i].weight.size() * sizeof(float));
        std::memcpy(bytes->data(), calls[i].weight.data(), bytes->size());
        e.weights = {writer.AddWeight("raw", bytes, Hash64(*bytes))};
      }
      std::vector<std::byte> raw(sizeof blob);
      std::memcpy(raw.data(), &blob, sizeof blob);
      e.blob_segment = writer.AddBlob(std::move(raw));
      std::uint32_t to = 1;
      if (i + 1 < calls.size()) {
        to = static_cast<std::uint32_t>(p.slots.size());
        p.slots.push_back({.name = Cat("t", i),
                           .type = type,
                           .kind = format::SlotKind::kFixed,
                           .offset = (i % 2) * stride});
        p.arena_bytes = std::max(p.arena_bytes, (i % 2 + 1) * stride);
      }
      format::Step step;
      step.executable = static_cast<std::uint32_t>(p.executables.size());
      step.inputs = {from};
      step.outputs = {to};
      block.steps.push_back(step);
      p.executables.push_back(std::move(e));
      p.segment_devices.push_back(calls[i].device == "fake_cpu" ? "CPU" : "NPU");
      from = to;
    }
    p.blocks = {block};
    head.programs.push_back(std::move(p));
    return head.programs.back();
  }

  Result<std::shared_ptr<const format::Package>> Build() const {
    NPUKIT_ASSIGN_OR_RETURN(std::vector<std::byte> bytes, writer.ToBytes(head));
    NPUKIT_ASSIGN_OR_RETURN(
        auto aligned,
        tensor::Value::Allocate(tensor::DType::kU8, {static_cast<std::int64_t>(bytes.size())}));
    std::memcpy(aligned.mutable_data(), bytes.data(), bytes.size());
    auto owner = std::make_shared<tensor::Value>(std::move(aligned));
    const auto view = owner->bytes();
    return format::Package::FromBytes(view, owner);
  }
};

}  // namespace npukit::runtime::testing
