// hal::Device on this machine's cores: memory is the host's, works run one after the other on a queue thread, each spread
// over the shared pool.
#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <set>
#include <utility>

#include "base/text.h"
#include "devices/cpu/run/driver.h"
#include "devices/cpu/run/kernels/kernels.h"
#include "devices/cpu/run/queue.h"

namespace npukit::devices::cpu {
namespace {

class CpuBuffer final : public hal::Buffer {
 public:
  CpuBuffer(std::byte* host, std::uint64_t size, bool owned) : host_(host), size_(size), owned_(owned) {}
  ~CpuBuffer() override {
    if (owned_) std::free(host_);
  }
  std::byte* host() override { return host_; }
  std::uint64_t size_bytes() const override { return size_; }

 private:
  std::byte* host_;
  std::uint64_t size_;
  bool owned_;
};

// The executables a device has loaded and that are alive: a Work with another device's is refused, not misread (there is no
// RTTI to ask). Shared with the executables' deleters, which may outlive the device.
struct Loaded {
  std::mutex mutex;
  std::set<const hal::Executable*> alive;  // guarded by mutex
};

Status CheckBinding(const hal::Binding& b, const tensor::Type& type, const char* what, std::size_t i) {
  if (b.buffer == nullptr) return InvalidArgument(Cat("cpu: ", what, " ", i, " has no buffer"));
  if (!(b.type == type)) {
    return InvalidArgument(Cat("cpu: ", what, " ", i, ": expected ", type.ToString(), ", found ", b.type.ToString()));
  }
  const std::uint64_t need = type.bytes().value_or(0);
  const std::uint64_t size = b.buffer->size_bytes();
  if (b.offset > size || need > size - b.offset) {
    return InvalidArgument(Cat("cpu: ", what, " ", i, ": ", need, " bytes at ", b.offset, " in a buffer of ", size));
  }
  const std::uint64_t align = static_cast<std::uint64_t>(std::clamp(tensor::DTypeBits(type.dtype) / 8, 1, 8));
  if ((reinterpret_cast<std::uintptr_t>(b.buffer->host()) + b.offset) % align != 0) {
    return InvalidArgument(Cat("cpu: ", what, " ", i, " is not aligned to its ", align, "-byte elements"));
  }
  return OkStatus();
}

std::uintptr_t AddressOf(const hal::Binding& b) {
  return b.buffer == nullptr ? 0 : reinterpret_cast<std::uintptr_t>(b.buffer->host()) + static_cast<std::uintptr_t>(b.offset);
}

class CpuDevice final : public hal::Device {
 public:
  CpuDevice(const hal::OpenOptions& options, std::shared_ptr<ThreadPool> pool, const Kernels& kernels,
            std::unique_ptr<Queue> queue)
      : profile_(options.profile), kernels_(kernels), pool_(std::move(pool)), queue_(std::move(queue)) {
    info_.name = "cpu";
    info_.device_class = "CPU";
    info_.description = Cat("CPU ", TargetName(kernels.target));
  }

  const hal::DeviceInfo& info() const override { return info_; }

  Result<hal::BufferPtr> Allocate(const hal::BufferSpec& spec) override {
    const std::uint64_t a = std::max<std::uint64_t>(spec.alignment, 64);
    if ((a & (a - 1)) != 0) return InvalidArgument(Cat("cpu: alignment ", spec.alignment, " is no power of two"));
    if (spec.size_bytes > SIZE_MAX - a) return Status(Code::kOutOfMemory, "cpu: buffer size overflows");
    const std::uint64_t rounded = std::max((spec.size_bytes + a - 1) / a * a, a);
    void* p = std::aligned_alloc(static_cast<std::size_t>(a), static_cast<std::size_t>(rounded));
    if (p == nullptr) return Status(Code::kOutOfMemory, Cat("cpu: no memory for ", spec.size_bytes, " bytes"));
    return hal::BufferPtr(std::make_shared<CpuBuffer>(static_cast<std::byte*>(p), spec.size_bytes, true));
  }

  Result<hal::BufferPtr> Import(const hal::ExternalMemory& memory) override {
    if (memory.host == nullptr && memory.size_bytes != 0) return InvalidArgument("cpu: no memory to import");
    return hal::BufferPtr(std::make_shared<CpuBuffer>(static_cast<std::byte*>(memory.host), memory.size_bytes, false));
  }

  Result<hal::ExecutablePtr> Load(std::span<const std::byte> blob, std::span<const hal::WeightView> weights) override {
    NPUKIT_ASSIGN_OR_RETURN(std::shared_ptr<CpuExecutable> exe,
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
    std::shared_ptr<CpuExecutable> exe(work.executable, static_cast<CpuExecutable*>(work.executable.get()));
    Job job;
    NPUKIT_RETURN_IF_ERROR(CheckBindings(work, *exe));
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
    job.fence = std::make_shared<CpuFence>();
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
    if (work.inputs.size() != exe.input_types().size() || work.outputs.size() != exe.output_types().size()) {
      return InvalidArgument(Cat("cpu: expected ", exe.input_types().size(), " inputs and ", exe.output_types().size(),
                                 " outputs, found ", work.inputs.size(), " and ", work.outputs.size()));
    }
    for (std::size_t i = 0; i < work.inputs.size(); ++i) {
      NPUKIT_RETURN_IF_ERROR(CheckBinding(work.inputs[i], exe.input_types()[i], "input", i));
    }
    for (std::size_t i = 0; i < work.outputs.size(); ++i) {
      NPUKIT_RETURN_IF_ERROR(CheckBinding(work.outputs[i], exe.output_types()[i], "output", i));
    }
    const std::uint64_t need = exe.scratch_bytes();
    if (need == 0) return OkStatus();
    const std::uint64_t have = work.scratch.buffer == nullptr ? 0 : work.scratch.buffer->size_bytes();
    if (work.scratch.offset > have || need > have - work.scratch.offset) {
      return InvalidArgument(Cat("cpu: expected ", need, " bytes of scratch, found ", have, " less ", work.scratch.offset));
    }
    if (AddressOf(work.scratch) % kScratchAlignment != 0) return InvalidArgument("cpu: scratch is not 64-byte aligned");
    return OkStatus();
  }

  hal::DeviceInfo info_;
  target::Profile profile_;
  const Kernels& kernels_;
  std::shared_ptr<ThreadPool> pool_;
  std::shared_ptr<Loaded> loaded_ = std::make_shared<Loaded>();
  std::shared_ptr<std::atomic<std::uint64_t>> resident_ = std::make_shared<std::atomic<std::uint64_t>>(0);
  std::unique_ptr<Queue> queue_;  // last: its destructor finishes works that use the rest
};

Result<hal::DevicePtr> Open(const hal::OpenOptions& options) {
  NPUKIT_ASSIGN_OR_RETURN(const Kernels* kernels, ChosenKernels());
  std::shared_ptr<ThreadPool> pool = options.pool ? options.pool : std::make_shared<ThreadPool>(1);
  NPUKIT_ASSIGN_OR_RETURN(std::unique_ptr<Queue> queue, Queue::Start(pool, options.virtual_clock));
  return hal::DevicePtr(std::make_shared<CpuDevice>(options, std::move(pool), *kernels, std::move(queue)));
}

constinit const hal::DeviceDriver kDriver = {.name = "cpu", .device_class = "CPU", .open = Open};

}  // namespace

const hal::DeviceDriver& Driver() { return kDriver; }

}  // namespace npukit::devices::cpu
