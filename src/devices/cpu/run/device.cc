// hal::Device on this machine's cores: memory is the host's, works run one after the other on a
// queue thread, each spread over the shared pool.
#include <algorithm>
#include <mutex>
#include <set>
#include <utility>

#include "base/text.h"
#include "devices/cpu/run/driver.h"
#include "devices/cpu/run/kernels/kernels.h"
#include "devices/cpu/run/queue.h"
#include "hal/host_memory.h"

namespace npukit::devices::cpu {
namespace {

// The executables a device has loaded and that are alive: a Work with another device's is refused,
// not misread (there is no RTTI to ask). Shared with the executables' deleters, which may outlive
// the device.
struct Loaded {
  std::mutex mutex;
  std::set<const hal::Executable*> alive;  // guarded by mutex
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
    NPUKIT_ASSIGN_OR_RETURN(
        std::shared_ptr<CpuExecutable> exe,
        CpuExecutable::Load(blob, weights, kernels_, pool_->threads(), profile_));
    const hal::Executable* key = exe.get();
    {
      std::lock_guard<std::mutex> lock(loaded_->mutex);
      loaded_->alive.insert(key);
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
    {
      std::lock_guard<std::mutex> lock(loaded_->mutex);
      if (work.executable == nullptr || !loaded_->alive.contains(work.executable.get())) {
        return InvalidArgument("cpu: the executable was not loaded by this device");
      }
    }
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
    job.waits = work.waits;
    job.cancel = work.cancel;
    job.deadline_ns = work.deadline_ns;
    job.fence = std::make_shared<hal::SignalFence>();
    hal::FencePtr fence = job.fence;
    queue_->Push(std::move(job));
    return fence;
  }

  hal::Telemetry Sample() const override {
    hal::Telemetry t = queue_->Sample();
    t.resident_bytes = resident_->load(std::memory_order_relaxed);
    return t;
  }

 private:
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

constinit const hal::DeviceDriver kDriver = {.name = "cpu", .device_class = "CPU", .open = Open};

}  // namespace

const hal::DeviceDriver& Driver() { return kDriver; }

}  // namespace npukit::devices::cpu
