#include "devices/npu_sim/model/model.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "base/text.h"
#include "devices/npu_sim/model/events.h"
#include "devices/npu_sim/model/plan.h"

namespace npukit::npu {
namespace {

using target::Cause;

// What all tiles of a task do together, whenever they do it.
struct Work {
  double cube_macs[2] = {0, 0}, vector_elements = 0, sram = 0, dram_read = 0, dram_write = 0;
  double weight_read = 0;
  bool arithmetic = false;

  void Add(const Program& p, Code code, const Rates& r, double times) {
    const std::int32_t* w = p.code.data() + code.begin;
    for (const std::int32_t* end = w + code.count; w < end; w += 1 + OperandWordsOf(*w)) {
      const InstructionCost c = CostOf(w, r);
      for (int t = 0; t < 2; ++t) cube_macs[t] += c.cube_macs[t] * times;
      vector_elements += c.vector_elements * times;
      sram += c.sram_bytes * times;
      dram_read += c.dram_read * times;
      dram_write += c.dram_write * times;
      if (c.weights) weight_read += c.dram_read * times;
      arithmetic = arithmetic || c.arithmetic;
    }
  }
};

Work WorkOf(const Program& p, const Task& task, const Rates& r) {
  Work work;
  double before = 0;
  for (std::size_t i = 0; i < task.groups.size(); ++i) {
    const Group& g = task.groups[i];
    const double n = double{1} * g.tiles0 * g.tiles1;
    // A prologue runs once per core that takes tiles; groups in a row that share it run it once.
    const Group* last = i > 0 ? &task.groups[i - 1] : nullptr;
    const bool shared = last != nullptr && last->prologue.begin == g.prologue.begin &&
                        last->prologue.count == g.prologue.count;
    if (!shared) before = 0;
    const double cores = std::min(before + n, r.cores);
    work.Add(p, g.prologue, r, cores - std::min(before, r.cores));
    before += n;
    work.Add(p, g.body, r, n);
  }
  return work;
}

std::function<Duration(const Planned&)> Durations(const Program& program, const Task& task,
                                                  const Rates& r, target::Relief relief,
                                                  double cube_fill) {
  return [&program, &task, &r, relief, cube_fill](const Planned& x) {
    if (relief.has(Cause::kLayout)) {
      const auto at = static_cast<std::uint64_t>(x.words - program.code.data());
      for (const Code& c : task.layout) {
        if (at >= c.begin && at - c.begin < c.count) return Duration{};
      }
    }
    const InstructionCost cost = CostOf(x.words, r);
    if (cost.weights && relief.has(Cause::kWeightStreaming)) return Duration{};
    const bool vector = cost.queue == Queue::kVector || cost.queue == Queue::kFixpipe;
    if (vector && relief.has(Cause::kVectorBound)) return Duration{};
    Duration d;
    d.own = cost.cycles;
    if (cost.queue == Queue::kCube && relief.has(Cause::kShapeUnderfill))
      d.own = r.head_cube + (d.own - r.head_cube) * cube_fill;
    d.dram = (cost.dram_read + cost.dram_write) / r.dram_bytes_per_cycle();
    if (cost.dram_read > 0) d.latency = r.dram_latency_cycles;
    return d;
  };
}

// Multiply-adds that count over those the cube does; 1 for a task without the cube.
double CubeFill(const Task& task, const Work& work) {
  const double done = work.cube_macs[0] + work.cube_macs[1];
  return done > 0 ? std::min(1.0, static_cast<double>(task.macs) / done) : 1;
}

// As if nothing ever waited: every queue's sum over the cores, and DRAM's. No task is faster.
TaskTimes LongestQueue(const Program& program, const Task& task, const Rates& r,
                       const std::function<Duration(const Planned&)>& duration) {
  TaskTimes times;
  for (const Group& g : task.groups) {
    const double tiles = double{1} * g.tiles0 * g.tiles1;
    const std::int32_t* w = program.code.data() + g.body.begin;
    for (const std::int32_t* end = w + g.body.count; w < end; w += 1 + OperandWordsOf(*w)) {
      Planned x;
      x.words = w;
      const Duration d = duration(x);
      times.busy[static_cast<std::size_t>(CostOf(w, r).queue)] += d.own * tiles / r.cores;
      times.dram_busy += d.dram * tiles;
    }
  }
  times.cycles = std::max(times.dram_busy, *std::max_element(times.busy.begin(), times.busy.end()));
  return times;
}

std::string_view WaitName(Wait w) {
  switch (w) {
    case Wait::kData:
      return "data from";
    case Wait::kRoom:
      return "room from";
    case Wait::kDram:
      return "DRAM";
    case Wait::kIssue:
      return "issue";
  }
  return "";
}

// More instructions than any compiler makes of one task, each counted once per group and core, or
// more runs of them than it makes sense to follow.
constexpr double kMostPlanned = 1 << 15, kMostRun = 1 << 23;

// Can the events of a task be followed in bounded time? Blobs come from anywhere.
bool Affordable(const Program& program, const Task& task, const Rates& r) {
  double planned = 0, run = 0;
  for (const Group& g : task.groups) {
    double n = 0;
    for (const Code& code : {g.prologue, g.body}) {
      // No instruction has more than 64 words: what is longer than this has too many of them.
      if (code.count > kMostPlanned * 64) return false;
      ForEach(program, code, [&](const auto&) { ++n; });
    }
    planned += n;
    if (planned > kMostPlanned) return false;
    const double tiles = double{1} * g.tiles0 * g.tiles1;
    run += n * std::min(tiles, kMostTilesRun * std::min(r.cores, tiles));
  }
  return run <= kMostRun;
}

TaskTimes Times(const Program& program, const Task& task, const Rates& r, target::Relief relief,
                double cube_fill, const std::function<void(const EventSpan&)>& span) {
  const auto duration = Durations(program, task, r, relief, cube_fill);
  if (!Affordable(program, task, r)) return LongestQueue(program, task, r, duration);
  EventOptions options;
  options.cores = static_cast<int>(r.cores);
  options.fixpipe = r.fixpipe;
  options.issue_cycles = r.issue;
  options.span = span;
  return RunTask(PlanTask(program, task), task.groups, duration, options);
}

struct Priced {
  target::Estimate estimate;
  std::string_view kind;
  std::uint64_t spans_left_out = 0;
};

Priced Price(const Program& program, const Task& task, const Rates& r, target::Relief relief,
             const std::function<void(const EventSpan&)>& span) {
  const Work work = WorkOf(program, task, r);
  Priced priced;
  priced.kind = work.cube_macs[0] + work.cube_macs[1] > 0 ? "cube"
                : work.arithmetic                         ? "vector"
                                                          : "layout";
  target::Estimate& e = priced.estimate;
  const double dispatch_us = relief.has(Cause::kDispatch) ? 0 : r.dispatch_us;
  if (priced.kind == "layout" && relief.has(Cause::kLayout)) return priced;
  const TaskTimes times = Times(program, task, r, relief, CubeFill(task, work), span);

  priced.spans_left_out = times.spans_left_out;
  e.time_ns = times.cycles / r.clock_ghz + dispatch_us * 1e3;
  e.busy_ns["dram"] = times.dram_busy / r.clock_ghz;
  for (int q = 1; q < kQueueCount; ++q) {  // the scalar queue only hands out
    const auto queue = static_cast<Queue>(q);
    if (queue == Queue::kFixpipe && !r.fixpipe) continue;
    e.busy_ns[std::string(QueueName(queue))] =
        times.busy[static_cast<std::size_t>(q)] / r.clock_ghz;
    for (int w = 0; w < kWaitCount; ++w) {
      for (int of = 0; of < kQueueCount; ++of) {
        const double cycles = times.stalls[static_cast<std::size_t>(q)][static_cast<std::size_t>(w)]
                                          [static_cast<std::size_t>(of)];
        if (cycles <= 0) continue;
        const auto wait = static_cast<Wait>(w);
        std::string name = Cat(QueueName(queue), " waits for ", WaitName(wait));
        if (wait == Wait::kData || wait == Wait::kRoom)
          name += Cat(" ", QueueName(static_cast<Queue>(of)));
        e.stalls_ns[name] += cycles / r.clock_ghz;
      }
    }
  }
  e.energy_pj["cube"] = work.cube_macs[0] * r.mac_pj[0] + work.cube_macs[1] * r.mac_pj[1];
  e.energy_pj["vector"] = work.vector_elements * r.vector_pj;
  e.energy_pj["sram"] = work.sram * r.sram_pj_per_byte;
  e.energy_pj["dram"] = (work.dram_read + work.dram_write) * r.dram_pj_per_byte;
  e.energy_pj["idle"] = e.time_ns * r.idle_mw;  // ns * mW = pJ
  e.bytes["dram_read"] = work.dram_read;
  e.bytes["dram_write"] = work.dram_write;
  e.bytes["dram_weights"] = work.weight_read;
  e.bytes["sram"] = work.sram;
  e.macs = static_cast<double>(task.macs);
  return priced;
}

}  // namespace

target::Estimate EstimateTask(const Program& program, const Task& task, const Rates& rates,
                              target::Relief relief) {
  return Price(program, task, rates, relief, {}).estimate;
}

bool OnlyLayout(const Program& program, const Task& task, const Rates& r) {
  return !WorkOf(program, task, r).arithmetic;
}

double TaskCycles(const Program& program, const Task& task, const Rates& r) {
  return Times(program, task, r, {}, 1, {}).cycles;
}

double LeastCycles(const Program& program, const Task& task, const Rates& r) {
  return LongestQueue(program, task, r, Durations(program, task, r, {}, 1)).cycles;
}

target::Estimate EstimateHandOver(const tensor::Type& t, const target::Profile& profile) {
  const auto bytes = static_cast<double>(t.bytes().value_or(0));
  target::Estimate e;
  e.time_ns = profile.NumberOr("npu.boundary_us", 0) * 1e3 +
              bytes / profile.NumberOr("npu.boundary_gbytes_per_s", 1);
  e.energy_pj["dram"] = bytes * profile.NumberOr("npu.energy.dram_pj_per_byte", 0);
  e.bytes["boundary"] = bytes;
  return e;
}

Result<target::Estimate> EstimateProgram(const Program& program, const target::Profile& profile) {
  NPUKIT_ASSIGN_OR_RETURN(target::Account a, AccountProgram(program, profile, {}, false));
  return std::move(a.total);
}

Result<target::Account> AccountProgram(const Program& program, const target::Profile& profile,
                                       target::Relief relief, bool spans) {
  NPUKIT_ASSIGN_OR_RETURN(const Rates r, ReadRates(profile));
  target::Account account;
  target::Estimate& total = account.total;
  account.fixed_ns = relief.has(Cause::kDispatch) ? 0 : r.fixed_us * 1e3;
  total.time_ns = account.fixed_ns;
  total.energy_pj["idle"] = total.time_ns * r.idle_mw;
  const auto hand_over = [&](const std::vector<tensor::Type>& types) {
    if (relief.has(Cause::kBoundary)) return;
    for (const tensor::Type& t : types) {
      const target::Estimate e = EstimateHandOver(t, profile);
      account.boundary_ns += e.time_ns;
      total += e;
    }
  };
  hand_over(program.inputs);
  for (std::size_t i = 0; i < program.tasks.size(); ++i) {
    const Task& task = program.tasks[i];
    target::TaskAccount t;
    t.name = task.name;
    t.start_ns = total.time_ns;
    const double begin = t.start_ns + (relief.has(Cause::kDispatch) ? 0 : r.dispatch_us * 1e3);
    std::function<void(const EventSpan&)> add;
    if (spans) {
      add = [&](const EventSpan& s) {
        if (account.spans.size() >= target::kMaxSpans) {
          ++account.spans_left_out;
          return;
        }
        const auto put = [&](std::string track, double from, double to) {
          account.spans.push_back({std::move(track), std::string(OpcodeName(OpcodeOf(*s.words))),
                                   begin + from / r.clock_ghz, (to - from) / r.clock_ghz,
                                   static_cast<std::uint32_t>(i)});
        };
        put(Cat("core", s.core, "/", QueueName(s.queue)), s.start, s.end);
        if (s.dram_end > s.dram_start) put("dram", s.dram_start, s.dram_end);
      };
    }
    Priced priced = Price(program, task, r, relief, add);
    t.kind = priced.kind;
    if (spans) account.spans_left_out += priced.spans_left_out;
    t.estimate = std::move(priced.estimate);
    const double peak = r.peak_macs() * r.clock_ghz;  // per ns
    const auto macs = static_cast<double>(task.macs);
    if (t.estimate.time_ns > 0) t.utilisation = macs / (peak * t.estimate.time_ns);
    t.bound_ns =
        std::max(macs / peak, static_cast<double>(task.compulsory_bytes) / r.dram_gbytes_per_s);
    total += t.estimate;
    account.tasks.push_back(std::move(t));
  }
  hand_over(program.outputs);
  return account;
}

}  // namespace npukit::npu
