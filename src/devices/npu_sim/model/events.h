// When every instruction of a task starts and ends: queues work in order, flags and buffers hold
// them back, DRAM serves one transfer at a time in the order of the plan. All of it is sums and
// maxima of durations over a graph that the blob fixes, so raising a rate never raises the time.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "devices/npu_sim/model/plan.h"
#include "devices/npu_sim/model/price.h"

namespace npukit::npu {

// Why a queue stood still before an instruction.
enum class Wait : std::uint8_t { kData = 0, kRoom, kDram, kIssue };
inline constexpr int kWaitCount = 4;

// What one instruction takes, in cycles.
struct Duration {
  double own = 0;      // of its queue, before any DRAM transfer
  double dram = 0;     // the transfer, serial with all others
  double latency = 0;  // from the end of the transfer until its data are there
};

struct EventSpan {
  int core = 0;
  Queue queue = Queue::kVector;
  const std::int32_t* words = nullptr;
  double start = 0, end = 0;            // cycles from the start of the task, transfer included
  double dram_start = 0, dram_end = 0;  // equal: none
};

// Cycles [queue][wait][queue waited for] of standing still before an instruction, all cores.
using Stalls = std::array<std::array<std::array<double, kQueueCount>, kWaitCount>, kQueueCount>;

struct TaskTimes {
  double cycles = 0;                       // to the end of the last instruction
  std::array<double, kQueueCount> busy{};  // of the busiest core
  double dram_busy = 0;
  Stalls stalls{};
  std::uint64_t spans_left_out = 0;  // instructions of tiles that were counted, not run
};

struct EventOptions {
  int cores = 1;
  bool fixpipe = false;
  double issue_cycles = 0;
  // May be empty. With it loops of up to kMostTilesRun tiles are run whole.
  std::function<void(const EventSpan&)> span;
};

// A loop that has not settled after so many tiles of a core goes on as it went so far.
inline constexpr double kMostTilesRun = 512;

// `duration` of an instruction of the plan; called once per instruction of a stretch.
TaskTimes RunTask(const TaskPlan& plan, const std::vector<Group>& groups,
                  const std::function<Duration(const Planned&)>& duration,
                  const EventOptions& options);

// When a group's writes take their turns on a machine of middling rates without contention: the
// order that the plan then fixes.
std::vector<GroupPlan::Turn> NaturalTurns(const GroupPlan& group, bool single);

}  // namespace npukit::npu
