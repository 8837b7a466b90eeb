// hal::Device on this machine's cores: memory is the host's, works run one after the other on a
// queue thread, each spread over the shared pool.
#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "base/text.h"
#include "devices/cpu/run/driver.h"
#include "devices/cpu/run/kernels/kernels.h"
#include "devices/cpu/run/peaks.h"
#include "devices/cpu/run/queue.h"
#include "hal/host_memory.h"

namespace npukit::devices::cpu {
namespace {

// The executables a device has loaded and that are alive: a Work with another device's is refused,
// not misread (there is no RTTI to ask). Shared with the executables' deleters, which may outlive
// the device.
struct Loaded {
  std::mutex mutex;
  // Guarded by mutex; null but for flows.
  std::map<const hal::Executable*, FlowExecutable*> alive;
};

std::uintptr_t AddressOf(const hal::Binding& b) {
  return reinterpret_cast<std::uintptr_t>(hal::HostAddress(b));
}

class CpuDevice final : public hal::Device {
 public:
  CpuDevice(const hal::OpenOptions& options, std::shared_ptr<ThreadPool> pool,
            const Kernels& kernels, std::unique_ptr<Queue> queue)
      : profile_(options.profile),
        kernels_(kernels),
        pool_(std::move(pool)),
        queue_(std::move(queue)) {
    info_.name = "cpu";
    info_.device_class = "CPU";
    info_.description = Cat("CPU ", TargetName(kernels.target));
  }

  const hal::DeviceInfo& info() const override { return info_; }

  Result<hal::BufferPtr> Allocate(const hal::BufferSpec& spec) override {
    return hal::AllocateHost(spec);
  }
  Result<hal::BufferPtr> Import(const hal::ExternalMemory& memory) override {
    return hal::ImportHost(memory);
  }

  Result<hal::ExecutablePtr> Load(std::span<const std::byte> blob,
                                  std::span<const hal::WeightView> weights) override {
    NPUKIT_ASSIGN_OR_RETURN(Blob read, Read(blob));
    std::shared_ptr<hal::Executable> exe;
    FlowExecutable* flow = nullptr;
    if (read.flow) {
      NPUKIT_ASSIGN_OR_RETURN(auto loaded, FlowExecutable::Load(std::move(read), weights, kernels_,
                                                                pool_->threads(), profile_));
      flow = loaded.get();
      exe = std::move(loaded);
    } else {
      NPUKIT_ASSIGN_OR_RETURN(
          exe, CpuExecutable::FromBlob(read, weights, kernels_, pool_->threads(), profile_));
    }
    const hal::Executable* key = exe.get();
    {
      std::lock_guard<std::mutex> lock(loaded_->mutex);
      loaded_->alive.emplace(key, flow);
    }
    resident_->fetch_add(exe->memory_bytes(), std::memory_order_relaxed);
    // The handle that goes out strikes the executable off the list when the last copy of it dies.
    auto gone = [exe, loaded = loaded_, resident = resident_, key](hal::Executable*) mutable {
      {
        std::lock_guard<std::mutex> lock(loaded->mutex);
        loaded->alive.erase(key);
      }
      resident->fetch_sub(exe->memory_bytes(), std::memory_order_relaxed);
      exe.reset();
    };
    return hal::ExecutablePtr(exe.get(), std::move(gone));
  }

  Result<hal::FencePtr> Submit(const hal::Work& work) override {
    FlowExecutable* flow = nullptr;
    {
      std::lock_guard<std::mutex> lock(loaded_->mutex);
      const auto at = loaded_->alive.find(work.executable.get());
      if (work.executable == nullptr || at == loaded_->alive.end())
        return InvalidArgument("cpu: the executable was not loaded by this device");
      flow = at->second;
    }
    if (flow != nullptr) return SubmitFlow(work, flow);
    // Shares the handle's ownership, so the executable outlives the work.
    std::shared_ptr<CpuExecutable> exe(work.executable,
                                       static_cast<CpuExecutable*>(work.executable.get()));
    Job job;
    if (Status s = CheckBindings(work, *exe); !s.ok()) return s.WithContext("cpu");
    job.bases.resize(kFirstBoundaryBase + work.inputs.size() + work.outputs.size());
    job.bases[kAbsoluteBase] = 0;
    job.bases[kScratchBase] = AddressOf(work.scratch);
    std::size_t base = kFirstBoundaryBase;
    for (const auto* list : {&work.inputs, &work.outputs}) {
      for (const hal::Binding& b : *list) {
        job.bases[base++] = AddressOf(b);
        job.buffers.push_back(b.buffer);
      }
    }
    job.buffers.push_back(work.scratch.buffer);
    job.executable = std::move(exe);
    job.step_ns = work.step_ns;
    return Push(std::move(job), work);
  }

  hal::Telemetry Sample() const override {
    hal::Telemetry t = queue_->Sample();
    t.resident_bytes = resident_->load(std::memory_order_relaxed);
    t.max_plans = FlowExecutable::kMaxPlans;
    std::lock_guard<std::mutex> lock(loaded_->mutex);
    for (const auto& [key, flow] : loaded_->alive) {
      if (flow == nullptr) continue;
      const FlowExecutable::PlanCounts counts = flow->counts();
      t.plans += counts.plans;
      t.plan_hits += counts.hits;
      t.plan_misses += counts.misses;
      t.resident_bytes += counts.bytes;
    }
    return t;
  }

 private:
  hal::FencePtr Push(Job job, const hal::Work& work) {
    job.waits = work.waits;
    job.cancel = work.cancel;
    job.deadline_ns = work.deadline_ns;
    job.fence = std::make_shared<hal::SignalFence>();
    hal::FencePtr fence = job.fence;
    queue_->Push(std::move(job));
    return fence;
  }

  Result<hal::FencePtr> SubmitFlow(const hal::Work& work, FlowExecutable* flow) {
    if (work.inputs.size() != flow->inputs() || work.outputs.size() != flow->outputs()) {
      return InvalidArgument(Cat("cpu: expected ", flow->inputs(), " inputs and ", flow->outputs(),
                                 " outputs, found ", work.inputs.size(), " and ",
                                 work.outputs.size()));
    }
    Job job;
    for (std::size_t i = 0; i < work.inputs.size(); ++i) {
      if (work.inputs[i].value == nullptr || !work.inputs[i].value->present())
        return InvalidArgument(Cat("cpu: input ", i, " has no value"));
      job.inputs.push_back(*work.inputs[i].value);
    }
    for (std::size_t i = 0; i < work.outputs.size(); ++i) {
      if (work.outputs[i].value == nullptr)
        return InvalidArgument(Cat("cpu: output ", i, " has nowhere to go"));
      job.outputs.push_back(work.outputs[i].value);
    }
    job.flow = std::shared_ptr<FlowExecutable>(work.executable, flow);
    return Push(std::move(job), work);
  }

  static Status CheckBindings(const hal::Work& work, const CpuExecutable& exe) {
    if (work.inputs.size() != exe.input_types().size() ||
        work.outputs.size() != exe.output_types().size()) {
      return InvalidArgument(Cat("expected ", exe.input_types().size(), " inputs and ",
                                 exe.output_types().size(), " outputs, found ", work.inputs.size(),
                                 " and ", work.outputs.size()));
    }
    for (std::size_t i = 0; i < work.inputs.size(); ++i) {
      NPUKIT_RETURN_IF_ERROR(hal::CheckBinding(work.inputs[i], exe.input_types()[i], "input", i));
    }
    for (std::size_t i = 0; i < work.outputs.size(); ++i) {
      NPUKIT_RETURN_IF_ERROR(
          hal::CheckBinding(work.outputs[i], exe.output_types()[i], "output", i));
    }
    return hal::CheckScratch(work.scratch, exe.scratch_bytes());
  }

  hal::DeviceInfo info_;
  target::Profile profile_;
  const Kernels& kernels_;
  std::shared_ptr<ThreadPool> pool_;
  std::shared_ptr<Loaded> loaded_ = std::make_shared<Loaded>();
  std::shared_ptr<std::atomic<std::uint64_t>> resident_ =
      std::make_shared<std::atomic<std::uint64_t>>(0);
  std::unique_ptr<Queue> queue_;  // last: its destructor finishes works that use the rest
};

Result<hal::DevicePtr> Open(const hal::OpenOptions& options) {
  NPUKIT_ASSIGN_OR_RETURN(const Kernels* kernels, ChosenKernels());
  std::shared_ptr<ThreadPool> pool = options.pool ? options.pool : std::make_shared<ThreadPool>(1);
  NPUKIT_ASSIGN_OR_RETURN(std::unique_ptr<Queue> queue, Queue::Start(pool, options.virtual_clock));
  return hal::DevicePtr(
      std::make_shared<CpuDevice>(options, std::move(pool), *kernels, std::move(queue)));
}

Result<hal::Peaks> Peaks(const hal::OpenOptions& options) {
  NPUKIT_ASSIGN_OR_RETURN(const Kernels* kernels, ChosenKernels());
  ThreadPool one(1);
  return MeasurePeaks(*kernels, options.pool ? *options.pool : one);
}

constinit const hal::DeviceDriver kDriver = {
    .name = "cpu", .device_class = "CPU", .open = Open, .measure_peaks = Peaks};

}  // namespace

const hal::DeviceDriver& Driver() { return kDriver; }

}  // namespace npukit::devices::cpu
