// What Session and Request share: the insides of an open session. Immutable after Open but for the
// members that say so.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "base/thread_pool.h"
#include "runtime/arena_pool.h"
#include "runtime/host_queue.h"
#include "runtime/plan.h"
#include "runtime/session.h"

namespace npukit::runtime {

struct Session::Impl {
  std::shared_ptr<const format::Package> package;
  bool virtual_clock = false;
  std::int64_t max_iterations = 0;
  std::vector<hal::DevicePtr> devices;
  std::vector<std::uint32_t> programs;             // best first
  std::vector<std::shared_ptr<const Plan>> plans;  // as programs
  std::uint64_t weights_bytes = 0;
  ArenaPool arenas;                 // thread-safe
  std::unique_ptr<HostQueue> host;  // thread-safe
  // Virtual time at which the latest run that somebody has waited for was over: a run submitted
  // after that wait starts no earlier, as it would on the real clock.
  std::atomic<std::int64_t> virtual_now_ns{0};
};

}  // namespace npukit::runtime
