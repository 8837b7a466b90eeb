// One model, opened: choose a program, bind buffers, submit, wait.
//
// A Session is immutable after Open and may be used by any number of threads at once; a Request
// belongs to one thread at a time and may be used again after its completion. Requests keep the
// session's plan alive. User buffers are bound without copying and must live until the completion.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/env.h"
#include "base/status.h"
#include "format/reader.h"
#include "hal/device.h"
#include "target/profile.h"

namespace npukit::runtime {

// "NPU", "CPU", "AUTO:NPU,CPU", "HETERO:NPU,CPU", "AUTO", parsed. kInvalidArgument names the bad
// word and lists the good.
struct DeviceSpec {
  enum class Policy : std::uint8_t { kOne, kAuto, kHetero } policy = Policy::kAuto;
  std::vector<std::string> devices;  // in order of preference
  static Result<DeviceSpec> Parse(const std::string& text);
  std::string ToString() const;
};

struct SessionOptions {
  DeviceSpec device;
  int threads = 0;                   // 0: NPUKIT_THREADS, else the machine's cores
  std::shared_ptr<ThreadPool> pool;  // to share one; null: made from `threads`
  std::string precision;             // "": any
  // Of all loops of one run together: an endless loop in a file must not hang its user (this many
  // take seconds).
  std::int64_t max_iterations = 400'000;
  target::Profile profile;  // empty name: the package's own
};

// Opens devices by name; devices/all_run gives one. Each device is opened once per session.
using DeviceOpener =
    std::function<Result<hal::DevicePtr>(const std::string& name, const hal::OpenOptions&)>;

struct StepAccount {
  std::string device;         // "NPU (simulated kirin9030)"
  std::string device_class;   // "NPU"
  std::int64_t start_ns = 0;  // relative to the request's start, by the clock of `kind`
  std::int64_t end_ns = 0;
  target::Kind kind = target::Kind::kMeasured;
  std::optional<double> energy_pj;
  struct Part {
    hal::StepInfo info;
    std::int64_t ns = 0;  // measured
  };
  std::vector<Part> parts;  // under Request::Profile, where the device says
};

struct Account {
  std::uint32_t program = 0;  // index into head().programs
  std::string devices;        // its key
  std::string precision;
  format::ComputeUnits compute_units;
  double latency_ns = 0;  // by the program's clock: modelled for any target but host
  target::Kind kind = target::Kind::kMeasured;
  double wall_ns = 0;        // measured here, always
  std::uint64_t copies = 0;  // buffers that had to be copied
  std::uint64_t bytes_copied = 0;
  std::optional<double> energy_pj;
  std::vector<StepAccount> steps;  // of a program run step by step, the last few thousand at most
  // Plans per distinct input shape, over all runs of the session so far; max_plans 0: nothing
  // plans.
  struct PlanCache {
    std::uint64_t plans = 0, hits = 0, misses = 0, max_plans = 0;
  } plan_cache;
};

class Session;

class Request {
 public:
  // kInvalidArgument: no such name (lists the names), wrong dtype, rank or size (expected and
  // found). Any of the session's programs' shapes may be bound; all inputs together choose the
  // program at Submit.
  Status BindInput(const std::string& name, tensor::DType t, const tensor::Dims& dims,
                   const void* data, std::uint64_t bytes);
  // A value of any kind: strings, sequences, optionals; a tensor's bytes are borrowed as above.
  Status BindInput(const std::string& name, tensor::Value value);
  Status BindOutput(const std::string& name, void* data,
                    std::uint64_t bytes);  // unbound outputs: the request's own memory
  // From the next Submit on, accounts say what every part of a step took. For profiles: it costs.
  void Profile(bool on);
  Status Submit();  // returns at once; the request is busy until Wait
  Status Wait();    // the run's status
  Status Run() {
    NPUKIT_RETURN_IF_ERROR(Submit());
    return Wait();
  }
  void Cancel();  // from any thread; the run ends with kCancelled between steps
  // After a completed run; the value borrows the bound buffer or the request's memory, until the
  // next Submit.
  Result<tensor::Value> Output(const std::string& name) const;
  const Account& account() const;  // of the last completed run
  Status Completed()
      const;  // ok: the last run is over and succeeded, so there are outputs and an account
  ~Request();

 private:
  friend class Session;
  struct Impl;
  explicit Request(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

class Session {
 public:
  static Result<std::shared_ptr<Session>> Open(std::shared_ptr<const format::Package> package,
                                               const SessionOptions& options,
                                               const DeviceOpener& opener);
  ~Session();
  const format::Head& head() const;
  // Programs this session may choose (indices into head().programs), best first.
  const std::vector<std::uint32_t>& programs() const;
  std::string device_description() const;  // "NPU (simulated kirin9030), CPU avx512"
  Result<std::unique_ptr<Request>> NewRequest();
  std::uint64_t arena_bytes() const;
  std::uint64_t weights_bytes() const;

 private:
  Session() = default;
  friend class Request;
  friend class StepRunner;
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace npukit::runtime
