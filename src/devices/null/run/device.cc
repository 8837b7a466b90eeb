#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/env.h"
#include "base/text.h"
#include "devices/null/blob/blob.h"
#include "devices/null/run/driver.h"
#include "hal/host_memory.h"

namespace npukit::devices::null {
namespace {

class NullExecutable final : public hal::Executable {
 public:
  Result<std::vector<tensor::Type>> Prepare(std::span<const tensor::Type> inputs) override {
    if (!inputs.empty())
      return Unsupported(Cat("null: the empty program takes no input, found ", inputs.size()));
    return std::vector<tensor::Type>();
  }
  std::uint64_t memory_bytes() const override { return 0; }
  std::uint64_t scratch_bytes() const override { return 0; }
};

// Nothing to do, so it is done as soon as the work it waits for is. A real device has a queue that
// waits, works and signals.
class NullFence final : public hal::Fence {
 public:
  NullFence(std::vector<hal::FencePtr> waits, std::int64_t submitted_ns, target::Kind kind)
      : waits_(std::move(waits)), submitted_ns_(submitted_ns), kind_(kind) {}
  Status Wait() override {
    Status first;
    for (const hal::FencePtr& f : waits_) {
      if (Status s = f->Wait(); !s.ok() && first.ok())
        first = s;  // a failed wait fails this work too
    }
    return first;
  }
  bool done() const override {
    for (const hal::FencePtr& f : waits_) {
      if (!f->done()) return false;
    }
    return true;
  }
  hal::Timing timing() const override {
    hal::Timing t;
    t.start_ns = submitted_ns_;
    for (const hal::FencePtr& f : waits_) t.start_ns = std::max(t.start_ns, f->timing().end_ns);
    t.end_ns = t.start_ns;
    t.kind = kind_;
    return t;
  }

 private:
  std::vector<hal::FencePtr> waits_;
  std::int64_t submitted_ns_;
  target::Kind kind_;
};

class NullDevice final : public hal::Device {
 public:
  explicit NullDevice(const hal::OpenOptions& options) : virtual_clock_(options.virtual_clock) {
    info_.name = "null";
    info_.device_class = "NULL";
    info_.description = "null (does nothing)";
  }

  const hal::DeviceInfo& info() const override { return info_; }

  // Shares the host's memory. A device with memory of its own returns kUnsupported from Import, and
  // the runtime copies.
  Result<hal::BufferPtr> Allocate(const hal::BufferSpec& spec) override {
    return hal::AllocateHost(spec);
  }
  Result<hal::BufferPtr> Import(const hal::ExternalMemory& memory) override {
    return hal::ImportHost(memory);
  }

  Result<hal::ExecutablePtr> Load(std::span<const std::byte> blob,
                                  std::span<const hal::WeightView>) override {
    const Blob expected;
    if (blob.size() != sizeof expected ||
        std::memcmp(blob.data(), &expected, sizeof expected) != 0) {
      return DataCorrupt(
          Cat("null: blob of ", blob.size(), " bytes is not the empty program: compile it again"));
    }
    return hal::ExecutablePtr(std::make_shared<NullExecutable>());
  }

  // Never blocks: the fence does the waiting. A real device checks the bindings here against what
  // the executable expects (hal::CheckBinding, hal::CheckScratch), and its queue looks at `cancel`
  // between steps.
  Result<hal::FencePtr> Submit(const hal::Work& work) override {
    if (work.executable == nullptr) return InvalidArgument("null: work without an executable");
    if (!work.inputs.empty() || !work.outputs.empty()) {
      return InvalidArgument(Cat("null: the empty program takes no bindings, found ",
                                 work.inputs.size() + work.outputs.size()));
    }
    works_.fetch_add(1, std::memory_order_relaxed);
    const auto kind = virtual_clock_ ? target::Kind::kModelled : target::Kind::kMeasured;
    return hal::FencePtr(
        std::make_shared<NullFence>(work.waits, virtual_clock_ ? 0 : RealEnv().NowNs(), kind));
  }

  hal::Telemetry Sample() const override {
    return {.busy_ns = 0, .works = works_.load(), .resident_bytes = 0};
  }

 private:
  hal::DeviceInfo info_;
  bool virtual_clock_;
  std::atomic<std::uint64_t> works_{0};
};

Result<hal::DevicePtr> Open(const hal::OpenOptions& options) {
  return hal::DevicePtr(std::make_shared<NullDevice>(options));
}

constinit const hal::DeviceDriver kDriver = {.name = "null", .device_class = "NULL", .open = Open};

}  // namespace

const hal::DeviceDriver& Driver() { return kDriver; }

}  // namespace npukit::devices::null
