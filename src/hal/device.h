// What any device must be able to do: six functions and a destructor; a seventh needs an ADR.
// Devices are opened by devices/all_run and passed to the runtime. All functions may be called from
// any thread.
//
// Time: a device opened with a virtual clock computes real values but says when they would have
// been ready by its model (fence kind `modelled`); with the real clock, fences carry measured
// times.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "base/thread_pool.h"
#include "target/estimate.h"
#include "target/profile.h"
#include "tensor/value.h"

namespace npukit::hal {

struct DeviceInfo {
  std::string name;          // "cpu", "npu_sim": as in devices.inc
  std::string device_class;  // "CPU", "NPU", "GPU"
  std::string description;   // "NPU (simulated kirin9030)", "CPU avx512_vnni"
  bool simulated = false;
};

// Memory a device can work on. host() is where the host sees it (all our devices share memory with
// the host so far).
class Buffer {
 public:
  virtual ~Buffer() = default;
  virtual std::byte* host() = 0;
  virtual std::uint64_t size_bytes() const = 0;
};
using BufferPtr = std::shared_ptr<Buffer>;

struct BufferSpec {
  std::uint64_t size_bytes = 0;
  std::uint64_t alignment = 64;
};

struct ExternalMemory {
  void* host =
      nullptr;  // owned by the caller, who keeps it alive until the last fence using it is done
  std::uint64_t size_bytes = 0;
};

// Weights of an executable: a stretch of the mapped package, untouched until used. Same id, same
// bytes.
struct WeightView {
  std::uint64_t id = 0;
  std::span<const std::byte> bytes;
};

// A step of an executable as its device runs it, for profiles: a fused operator.
struct StepInfo {
  std::string op;           // with its epilogue: "conv2d+relu"
  std::string name;         // of the node
  const char* kernel = "";  // the loop that runs it: a literal; "reference" where there is none
  double macs = 0;
  std::string shape;  // of the first output
  double vector_ops = 0;
  double bytes = 0;  // inputs, weights and outputs, each once
};

// A loaded blob. Immutable: any number of Work may use it at once, each with scratch of its own.
class Executable {
 public:
  virtual ~Executable() = default;
  // Output types for these input types; one of undefined dtype depends on the inputs' data or is
  // planned when it runs. kUnsupported: a static device and another shape than it was compiled for.
  virtual Result<std::vector<tensor::Type>> Prepare(std::span<const tensor::Type> inputs) = 0;
  virtual std::uint64_t memory_bytes() const = 0;   // held beside the mapped package
  virtual std::uint64_t scratch_bytes() const = 0;  // working memory one Work needs
  virtual std::vector<StepInfo> steps() const {
    return {};
  }  // empty: not known, or not before it runs
};
using ExecutablePtr = std::shared_ptr<Executable>;

// When and how something was done. Filled when the fence is done.
struct Timing {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  target::Kind kind = target::Kind::kMeasured;
  std::optional<double> energy_pj;  // absent: nobody knows
  target::Kind energy_kind = target::Kind::kModelled;
};

class Fence {
 public:
  virtual ~Fence() = default;
  virtual Status Wait() = 0;  // blocks until done; the work's own status
  virtual bool done() const = 0;
  virtual Timing timing() const = 0;  // valid once done
};
using FencePtr = std::shared_ptr<Fence>;

// A stretch of a buffer holding one dense tensor of a known type; or, where the type is known only
// at run time or is no dense tensor, the value itself. Such an input is read from `value`, such an
// output is put there by the device before its fence is done. Static devices refuse values.
struct Binding {
  BufferPtr buffer;
  std::uint64_t offset = 0;
  tensor::Type type;
  std::shared_ptr<tensor::Value> value = nullptr;
};

enum class Mode : std::uint8_t { kLow, kBalanced, kHigh };

struct Work {
  ExecutablePtr executable;
  std::vector<Binding> inputs;
  std::vector<Binding> outputs;
  Binding scratch;              // at least executable->scratch_bytes(), 64-byte aligned
  std::vector<FencePtr> waits;  // the device waits for these first
  int priority = 0;
  std::int64_t deadline_ns = 0;  // 0: none
  Mode mode = Mode::kBalanced;
  const std::atomic<bool>* cancel = nullptr;  // looked at between steps; must outlive the fence
  // For profiles: what each of executable->steps() took on this machine, written before the fence
  // is done. Must outlive the fence. A device whose executables name no steps leaves it alone.
  std::vector<std::int64_t>* step_ns = nullptr;
};

struct Telemetry {
  std::int64_t busy_ns = 0;  // since opening
  std::uint64_t works = 0;
  std::uint64_t resident_bytes = 0;
  // Of executables that plan per distinct input shape: plans held, runs that found theirs, plans
  // made. At most `max_plans` are held for each stretch that a run is cut into, the least recently
  // used goes first.
  std::uint64_t plans = 0;
  std::uint64_t plan_hits = 0;
  std::uint64_t plan_misses = 0;
  std::uint64_t max_plans = 0;
};

class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceInfo& info() const = 0;
  virtual Result<BufferPtr> Allocate(const BufferSpec& spec) = 0;
  virtual Result<BufferPtr> Import(const ExternalMemory& memory) = 0;  // no copy, or kUnsupported
  // The blob and the weights stay alive (mapped) as long as the executable. kDataCorrupt on a bad
  // blob: it is read as hostile.
  virtual Result<ExecutablePtr> Load(std::span<const std::byte> blob,
                                     std::span<const WeightView> weights) = 0;
  virtual Result<FencePtr> Submit(const Work& work) = 0;  // never blocks on the work itself
  virtual Telemetry Sample() const = 0;
};
using DevicePtr = std::shared_ptr<Device>;

// What opening a device needs. `profile` is the one the package was compiled for (or the target of
// the command).
struct OpenOptions {
  target::Profile profile;
  bool virtual_clock = false;        // true for any target but host
  std::shared_ptr<ThreadPool> pool;  // shared by sessions
};

// What the machine a device runs on reaches, measured: the roofs its steps are held against.
struct Peaks {
  double gflops = 0;             // fused multiply-adds alone, two operations each
  double read_gbytes_per_s = 0;  // of memory far larger than the caches
  double copy_gbytes_per_s = 0;  // the same, bytes read plus bytes written
};

// One line of devices.inc on the run side. A device that is absent here gives kUnsupported with the
// reason.
struct DeviceDriver {
  std::string_view name;
  std::string_view device_class;
  Result<DevicePtr> (*open)(const OpenOptions& options);
  // Takes some tenths of a second. Null: there is nothing to measure here.
  Result<Peaks> (*measure_peaks)(const OpenOptions& options) = nullptr;
};

}  // namespace npukit::hal
