// hal::Device that computes what a phone's NPU would, and says from the profile how long that would
// have taken.
#include <algorithm>
#include <mutex>
#include <set>
#include <utility>

#include "base/text.h"
#include "devices/npu_sim/run/driver.h"
#include "devices/npu_sim/run/queue.h"
#include "hal/host_memory.h"

namespace npukit::devices::npu_sim {
namespace {

// The executables a device has loaded and that are alive: a Work with another device's is refused,
// not misread (there is no RTTI to ask). Shared with the executables' deleters, which may outlive
// the device.
struct Loaded {
  std::mutex mutex;
  std::set<const hal::Executable*> alive;  // guarded by mutex
  std::atomic<std::uint64_t> bytes{0};
};

class SimDevice final : public hal::Device {
 public:
  SimDevice(target::Profile profile, std::unique_ptr<Queue> queue)
      : profile_(std::move(profile)), queue_(std::move(queue)) {
    info_.name = "npu_sim";
    info_.device_class = "NPU";
    info_.description = Cat("NPU (simulated ", Printable(profile_.name), ")");
    info_.simulated = true;
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
    NPUKIT_ASSIGN_OR_RETURN(std::shared_ptr<SimExecutable> exe,
                            SimExecutable::Load(blob, weights, profile_));
    const hal::Executable* key = exe.get();
    {
      std::lock_guard<std::mutex> lock(loaded_->mutex);
      loaded_->alive.insert(key);
    }
    loaded_->bytes.fetch_add(exe->memory_bytes(), std::memory_order_relaxed);
    // The handle that goes out strikes the executable off the list when the last copy of it dies.
    auto gone = [exe, loaded = loaded_](hal::Executable* p) mutable {
      {
        std::lock_guard<std::mutex> lock(loaded->mutex);
        loaded->alive.erase(p);
      }
      loaded->bytes.fetch_sub(exe->memory_bytes(), std::memory_order_relaxed);
      exe.reset();
    };
    return hal::ExecutablePtr(exe.get(), std::move(gone));
  }

  Result<hal::FencePtr> Submit(const hal::Work& work) override {
    {
      std::lock_guard<std::mutex> lock(loaded_->mutex);
      if (work.executable == nullptr || !loaded_->alive.contains(work.executable.get())) {
        return InvalidArgument("npu_sim: the executable was not loaded by this device");
      }
    }
    Job job;
    // Shares the handle's ownership, so the executable outlives the work.
    job.executable = {work.executable, static_cast<SimExecutable*>(work.executable.get())};
    const npu::Program& p = job.executable->program();
    if (work.inputs.size() != p.inputs.size() || work.outputs.size() != p.outputs.size()) {
      return InvalidArgument(Cat("npu_sim: expected ", p.inputs.size(), " inputs and ",
                                 p.outputs.size(), " outputs, found ", work.inputs.size(), " and ",
                                 work.outputs.size()));
    }
    for (std::size_t i = 0; i < p.inputs.size(); ++i) {
      NPUKIT_RETURN_IF_ERROR(hal::CheckBinding(work.inputs[i], p.inputs[i], "input", i));
      job.dram.inputs.push_back(hal::HostAddress(work.inputs[i]));
      job.buffers.push_back(work.inputs[i].buffer);
    }
    for (std::size_t i = 0; i < p.outputs.size(); ++i) {
      NPUKIT_RETURN_IF_ERROR(hal::CheckBinding(work.outputs[i], p.outputs[i], "output", i));
      job.dram.outputs.push_back(hal::HostAddress(work.outputs[i]));
      job.buffers.push_back(work.outputs[i].buffer);
    }
    NPUKIT_RETURN_IF_ERROR(hal::CheckScratch(work.scratch, p.workspace_bytes));
    job.dram.workspace = hal::HostAddress(work.scratch);
    job.buffers.push_back(work.scratch.buffer);
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
    t.resident_bytes = loaded_->bytes.load(std::memory_order_relaxed) + queue_->core_bytes();
    return t;
  }

 private:
  hal::DeviceInfo info_;
  const target::Profile profile_;
  const std::shared_ptr<Loaded> loaded_ = std::make_shared<Loaded>();
  std::unique_ptr<Queue> queue_;  // last: its destructor finishes works that use the rest
};

Result<hal::DevicePtr> Open(const hal::OpenOptions& options) {
  if (!options.profile.has_npu()) {
    return Unsupported(Cat("npu_sim: target ", Printable(options.profile.name),
                           " has no NPU; choose one that has, with -t"));
  }
  NPUKIT_ASSIGN_OR_RETURN(const npu::Buffers sizes, ProfileBuffers(options.profile));
  std::shared_ptr<ThreadPool> pool = options.pool ? options.pool : std::make_shared<ThreadPool>(1);
  NPUKIT_ASSIGN_OR_RETURN(std::unique_ptr<CorePool> cores,
                          CorePool::Create(sizes, pool->threads()));
  NPUKIT_ASSIGN_OR_RETURN(std::unique_ptr<Queue> queue,
                          Queue::Start(std::move(pool), std::move(cores),
                                       *AvailableKernels().front(), options.virtual_clock));
  return hal::DevicePtr(std::make_shared<SimDevice>(options.profile, std::move(queue)));
}

constinit const hal::DeviceDriver kDriver = {
    .name = "npu_sim", .device_class = "NPU", .open = Open};

}  // namespace

const hal::DeviceDriver& Driver() { return kDriver; }

}  // namespace npukit::devices::npu_sim
