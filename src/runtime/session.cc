#include "runtime/session.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <thread>

#include "base/text.h"
#include "runtime/choose.h"
#include "runtime/session_impl.h"

namespace npukit::runtime {
namespace {

constexpr int kMaxThreads = 1024;

// 0: NPUKIT_THREADS, else the machine's cores.
Result<int> ThreadCount(int asked) {
  if (asked < 0 || asked > kMaxThreads) {
    return InvalidArgument(Cat("threads: expected 0 to ", kMaxThreads, ", found ", asked));
  }
  if (asked > 0) return asked;
  if (const char* text = std::getenv("NPUKIT_THREADS"); text != nullptr && *text != '\0') {
    std::int64_t n = 0;
    if (!ParseInt64(text, &n) || n < 1 || n > kMaxThreads) {
      return InvalidArgument(
          Cat("NPUKIT_THREADS: expected 1 to ", kMaxThreads, ", found '", Printable(text), "'"));
    }
    return static_cast<int>(n);
  }
  return std::max(
      1, static_cast<int>(std::min<unsigned>(std::thread::hardware_concurrency(), kMaxThreads)));
}

// A program behind another one for the same input types can never be chosen: binding it would only
// cost.
std::vector<std::uint32_t> WithoutShadowed(const format::Head& head,
                                           const std::vector<std::uint32_t>& ranked) {
  std::vector<std::uint32_t> kept;
  for (const std::uint32_t p : ranked) {
    const bool shadowed = std::any_of(kept.begin(), kept.end(), [&](std::uint32_t k) {
      return head.programs[k].input_types == head.programs[p].input_types;
    });
    if (!shadowed) kept.push_back(p);
  }
  return kept;
}

class DeviceTable {
 public:
  DeviceTable(const DeviceOpener& opener, const hal::OpenOptions& options)
      : opener_(opener), options_(options) {}

  // Opens what `program` needs; each device once, a failure is remembered.
  Status OpenFor(const format::Program& program) {
    for (const format::ExecutableInfo& e : program.executables) {
      const auto known = std::find_if(tried_.begin(), tried_.end(),
                                      [&](const Tried& t) { return t.name == e.device; });
      if (known != tried_.end()) {
        NPUKIT_RETURN_IF_ERROR(known->status);
        continue;
      }
      auto device = opener_(e.device, options_);
      tried_.push_back({e.device, device.status()});
      NPUKIT_RETURN_IF_ERROR(device.status());
      if (devices_.size() == kMaxDevices)
        return ResourceExhausted(Cat("more than ", kMaxDevices, " devices"));
      devices_.push_back(std::move(*device));
    }
    return OkStatus();
  }
  std::vector<hal::DevicePtr> Take() { return std::move(devices_); }

 private:
  struct Tried {
    std::string name;
    Status status;
  };
  const DeviceOpener& opener_;
  const hal::OpenOptions& options_;
  std::vector<Tried> tried_;
  std::vector<hal::DevicePtr> devices_;
};

}  // namespace

Result<std::shared_ptr<Session>> Session::Open(std::shared_ptr<const format::Package> package,
                                               const SessionOptions& options,
                                               const DeviceOpener& opener) {
  if (package == nullptr) return InvalidArgument("no package");
  const format::Head& head = package->head();
  if (!head.states.empty()) {
    return Unsupported(Cat("the model keeps state between runs ('", Printable(head.states[0].name),
                           "'); this version runs models without state: update npukit"));
  }
  DeviceSpec spec = options.device;
  if (spec.devices.empty()) {  // left as it is: whatever there is
    NPUKIT_ASSIGN_OR_RETURN(spec, DeviceSpec::Parse("AUTO"));
  }
  NPUKIT_ASSIGN_OR_RETURN(std::vector<std::uint32_t> ranked,
                          RankPrograms(head, spec, options.precision));

  auto impl = std::make_shared<Impl>();
  hal::OpenOptions open;
  open.profile = options.profile.name.empty() ? head.profile : options.profile;
  open.virtual_clock = open.profile.name != "host";
  open.pool = options.pool;
  if (open.pool == nullptr) {
    NPUKIT_ASSIGN_OR_RETURN(const int threads, ThreadCount(options.threads));
    open.pool = std::make_shared<ThreadPool>(threads);
  }
  DeviceTable table(opener, open);
  std::vector<std::uint32_t> usable;
  Status absent;
  for (const std::uint32_t p : ranked) {
    Status s = table.OpenFor(head.programs[p]);
    if (s.ok()) {
      usable.push_back(p);
    } else if (spec.policy == DeviceSpec::Policy::kAuto && s.code() == Code::kUnsupported) {
      if (absent.ok())
        absent =
            s;  // AUTO goes on without a device that is not here; device_description says what is
    } else {
      return s;
    }
  }
  if (usable.empty()) return absent;

  impl->virtual_clock = open.virtual_clock;
  impl->max_iterations = options.max_iterations;
  impl->devices = table.Take();
  impl->programs = WithoutShadowed(head, usable);
  std::uint64_t arena_bytes = 0;
  DeviceMask mask = 0;
  std::set<std::uint32_t> weights;
  for (const std::uint32_t p : impl->programs) {
    NPUKIT_ASSIGN_OR_RETURN(std::shared_ptr<const Plan> plan,
                            Plan::Bind(package, p, impl->devices));
    arena_bytes = std::max(arena_bytes, plan->arena_bytes());
    mask |= plan->devices();
    for (const format::ExecutableInfo& e : plan->program().executables) {
      weights.insert(e.weights.begin(), e.weights.end());
    }
    impl->plans.push_back(std::move(plan));
  }
  for (const std::uint32_t w : weights) impl->weights_bytes += head.weights[w].length;
  impl->arenas.Init(impl->devices, mask, arena_bytes);
  impl->host = std::make_unique<HostQueue>(impl->virtual_clock);
  impl->package = std::move(package);

  std::shared_ptr<Session> session(new Session);
  session->impl_ = std::move(impl);
  return session;
}

Session::~Session() = default;

const format::Head& Session::head() const { return impl_->package->head(); }

const std::vector<std::uint32_t>& Session::programs() const { return impl_->programs; }

std::string Session::device_description() const {
  std::string text;
  for (const hal::DevicePtr& d : impl_->devices) {
    if (!text.empty()) text += ", ";
    text += d->info().description;
  }
  return text;
}

std::uint64_t Session::arena_bytes() const { return impl_->arenas.bytes(); }

std::uint64_t Session::weights_bytes() const { return impl_->weights_bytes; }

}  // namespace npukit::runtime
