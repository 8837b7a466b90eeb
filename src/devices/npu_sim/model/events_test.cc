// Times worked out by hand where a closed form exists, and what must hold for any program: no
// faster than the roofline, never slower on a faster chip, long loops equal to short ones.
#include "devices/npu_sim/model/events.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "devices/npu_sim/model/model.h"

namespace npukit::npu {
namespace {

constexpr double kTolerance = 1e-6;

Rates SmallChip() {
  Rates r;
  r.clock_ghz = 1;
  r.accumulator_bytes = 4;
  r.l1_l0a = 512;
  r.l1_l0b = 256;
  r.l1_ub = r.ub_l1 = 128;
  r.l0c_ub = 256;
  r.vector = 128;
  r.move = 32;
  r.dram_gbytes_per_s = 32;
  r.dram_burst_bytes = 64;
  r.dram_latency_cycles = 1000;
  r.head_cube = 6;
  r.head_vector = 5;
  r.head_mte = 20;
  r.issue = 0;
  return r;
}

Program Empty() {
  Program p;
  p.buffers = {1 << 20, 1 << 16, 1 << 16, 1 << 18, 1 << 18};
  return p;
}

npu::Copy Load(std::int32_t mem, std::int32_t addr, std::int32_t bytes) {
  Copy x;
  x.src.mem = kWorkspace;
  x.src.step[0] = bytes;
  x.dst.mem = mem;
  x.dst.addr = addr;
  x.bytes = bytes;
  return x;
}
npu::Copy Store(std::int32_t addr, std::int32_t bytes) {
  Copy x;
  x.src.mem = kUb;
  x.src.addr = addr;
  x.dst.mem = kWorkspace;
  x.dst.step[0] = bytes;
  x.bytes = bytes;
  return x;
}

TEST(Events, PureCopyIsHeadBytesAndLatency) {
  Program p = Empty();
  p.Emit(Load(kUb, 0, 32000));
  p.Emit(Store(0, 32000));
  const Task task{"copy", {{1, 1, {}, p.CodeSince(0)}}, 0};
  // In: 20 + 1000 + latency 1000. Out, once the data are there: 20 + 1000.
  EXPECT_NEAR(TaskCycles(p, task, SmallChip()), 20 + 1000 + 1000 + 20 + 1000, kTolerance);
}

// A [32, 64] x B [64, 32]: what a matrix product of one tile does, step after step.
TEST(Events, SingleMatmulIsTheSumOfItsSteps) {
  Program p = Empty();
  p.Emit(Load(kL1, 0, 4096));
  p.Emit(Load(kL1, 8192, 4096));
  Load2d a{.dst_mem = kL0A, .count = {2, 4}};
  a.dst_stride[0] = a.src_stride[0] = 4 * kFractalBytes;
  p.Emit(a);
  Load2d b{.dst_mem = kL0B, .src_addr = 8192, .count = {4, 2}};
  b.dst_stride[0] = b.src_stride[0] = 2 * kFractalBytes;
  p.Emit(b);
  p.Emit(Mmad{.a_m1_stride = 4 * kFractalBytes,
              .b_k1_stride = 2 * kFractalBytes,
              .c_n1_stride = 2 * 1024,
              .m = 32,
              .k1 = 4,
              .n1 = 2});
  p.Emit(L0cToUb{.src_n1_stride = 2 * 1024, .dst_n1_stride = 1024, .rows = 32, .n1 = 2});
  p.Emit(Store(0, 2048));
  const Task task{"matmul", {{1, 1, {}, p.CodeSince(0)}}, 32 * 64 * 32};
  // Both loads one after the other, 20 + 128 each, and the latency of the second; load2d of A,
  // 20 + 4096 / 512, runs while B's data are under way, but B waits: 20 + 4096 / 256; 2 x 4 x 2
  // blocks + 6; 4096 bytes of accumulators at 256 + 5; out 20 + 64.
  const double in = 2 * (20 + 128) + 1000;
  EXPECT_NEAR(TaskCycles(p, task, SmallChip()), in + (20 + 16) + (6 + 16) + (5 + 16) + (20 + 64),
              kTolerance);
}

// In, vector, out, many tiles that fit twice: the vector unit is the longest queue and never rests
// between the first tile's data and the last.
TEST(Events, OverlapIsPerfectWhenTheVectorUnitIsLongest) {
  Program p = Empty();
  Rates r = SmallChip();
  r.dram_latency_cycles = 100;
  p.Emit(Load(kUb, 0, 6400));
  for (int i = 0; i < 10; ++i) p.Emit(Unary{.op = UnaryOp::kExp, .len = 3200});
  p.Emit(Store(0, 6400));
  const Task task{"exp", {{1000, 1, {}, p.CodeSince(0)}}, 0};
  // First data after 20 + 200 + 100; 1000 x 10 x (5 + 50); last store 20 + 200.
  EXPECT_NEAR(TaskCycles(p, task, r), 320 + 550000 + 220, kTolerance);
}

// DRAM the longest: a load begins when the store two tiles before has left the room it needs, so
// at most its head is lost between transfers.
TEST(Events, DramRestsForNoMoreThanAHead) {
  Program p = Empty();
  Rates r = SmallChip();
  r.dram_latency_cycles = 100;
  p.Emit(Load(kUb, 0, 6400));
  p.Emit(Unary{.op = UnaryOp::kExp, .len = 3200});
  p.Emit(Store(0, 6400));
  const Task task{"exp", {{1000, 1, {}, p.CodeSince(0)}}, 0};
  const double cycles = TaskCycles(p, task, r);
  EXPECT_GE(cycles, 1000 * 400.0);
  EXPECT_LE(cycles, 1000 * 420.0 + 500);  // fill and drain
}

TEST(Events, OneBufferMeansNoOverlap) {
  Program p = Empty();
  p.buffers.ub_bytes = 6400 + 3200;  // no room for two tiles
  Rates r = SmallChip();
  p.Emit(Load(kUb, 0, 6400));
  p.Emit(Unary{.op = UnaryOp::kExp, .len = 3200});
  p.Emit(Store(0, 6400));
  const Task task{"exp", {{100, 1, {}, p.CodeSince(0)}}, 0};
  // In 20 + 200 + 1000, exp 5 + 50, out 20 + 200; the next load waits for the store.
  EXPECT_NEAR(TaskCycles(p, task, r), 100 * (1220 + 55 + 220), kTolerance);
}

// The bytes of a DRAM read come later than the instructions behind it on its queue are done.
TEST(Events, NobodyReadsDramBytesBeforeTheyAreThere) {
  Copy near;  // L1 to UB, on the queue of the load before it
  near.src = {kL1, 0, 0, {0, 0}};
  near.dst = {kUb, 0, 8192, {0, 0}};
  near.bytes = 1280;
  {
    Program p = Empty();
    p.Emit(Load(kUb, 0, 3200));
    p.Emit(near);
    p.Emit(Binary{.dst_addr = 16384, .src0_addr = 0, .src1_addr = 8192, .len = 640});
    const Task task{"operands", {{1, 1, {}, p.CodeSince(0)}}, 0};
    // 20 + 100, then 1000 until the first operand is there, whatever came behind it.
    EXPECT_NEAR(TaskCycles(p, task, SmallChip()), 1120 + 5 + 10, kTolerance);
  }
  {
    Program p = Empty();
    p.Emit(Load(kL1, 0, 3200));
    p.Emit(near);
    const Task task{"same queue", {{1, 1, {}, p.CodeSince(0)}}, 0};
    EXPECT_NEAR(TaskCycles(p, task, SmallChip()), 1120 + 20 + 10, kTolerance);
  }
}

// One tile, then three that share its prologue, on two cores: the core that had no tile of the
// first group runs the prologue too.
TEST(Events, EveryCoreWithTilesRunsASharedPrologue) {
  Program p = Empty();
  Rates r = SmallChip();
  r.cores = 2;
  r.dram_latency_cycles = 0;
  Copy w = Load(kL1, 0, 32000);
  w.src.mem = kWeight;
  w.src.step[0] = 0;
  p.Emit(w);
  const Code prologue = p.CodeSince(0);
  const std::size_t begin = p.code.size();
  p.Emit(Unary{.op = UnaryOp::kExp, .len = 64});
  const Code body = p.CodeSince(begin);
  const Task task{"t", {{1, 1, prologue, body}, {3, 1, prologue, body}}, 0};
  const target::Estimate e = EstimateTask(p, task, r);
  EXPECT_EQ(e.bytes.at("dram_read"), 2 * 32000);
  EXPECT_NEAR(e.time_ns, 20 + 2 * 1000, kTolerance);  // one after the other: DRAM is shared
}

TEST(Events, IssueBoundsManySmallInstructions) {
  Program p = Empty();
  Rates r = SmallChip();
  r.head_vector = 0;
  r.issue = 50;
  for (int i = 0; i < 10; ++i) p.Emit(Unary{.dst_addr = i * 64, .src_addr = i * 64, .len = 16});
  const Task task{"tiny", {{1, 1, {}, p.CodeSince(0)}}, 0};
  EXPECT_NEAR(TaskCycles(p, task, r), 10 * 50 + 0.25, kTolerance);
}

TEST(Events, FixpipeTakesAccumulatorsOffTheVectorUnit) {
  Program p = Empty();
  p.Emit(L0cToUb{.src_n1_stride = 1024, .dst_n1_stride = 512, .rows = 16, .n1 = 8});
  p.Emit(Unary{.op = UnaryOp::kExp, .dst_addr = 32768, .src_addr = 32768, .len = 2048});
  const Task task{"two", {{1, 1, {}, p.CodeSince(0)}}, 0};
  Rates r = SmallChip();
  EXPECT_NEAR(TaskCycles(p, task, r), (5 + 32) + (5 + 32), kTolerance);
  r.fixpipe = true;
  EXPECT_NEAR(TaskCycles(p, task, r), 5 + 32, kTolerance);
}

// ---- properties over random programs

struct Random {
  std::mt19937 engine;
  explicit Random(unsigned seed) : engine(seed) {}
  int Int(int lo, int hi) { return std::uniform_int_distribution<int>(lo, hi)(engine); }
  double Real(double lo, double hi) {
    return std::exp(std::uniform_real_distribution<double>(std::log(lo), std::log(hi))(engine));
  }
};

// Convolution-like tiles: loads, a loop of products with or without two halves of L0, steps,
// stores.
Program RandomProgram(Random& rnd, Task* task) {
  Program p = Empty();
  p.buffers.l1_bytes = static_cast<std::uint32_t>(rnd.Int(100000, 1 << 20));
  p.buffers.ub_bytes = static_cast<std::uint32_t>(rnd.Int(40000, 1 << 18));
  double macs = 0;
  for (int g = rnd.Int(1, 4); g > 0; --g) {
    Group group;
    group.tiles0 = static_cast<std::uint32_t>(rnd.Int(1, rnd.Int(0, 3) == 0 ? 300 : 12));
    std::size_t begin = p.code.size();
    // Groups in a row may share a prologue.
    const bool shared =
        !task->groups.empty() && task->groups.back().prologue.count > 0 && rnd.Int(0, 1) == 1;
    const bool resident = shared || rnd.Int(0, 1) == 1;
    if (resident && !shared) {
      Copy w = Load(kL1, 65536, 512 * rnd.Int(1, 32));
      w.src.mem = kWeight;
      w.src.step[0] = 0;
      p.Emit(w);
    }
    group.prologue = shared ? task->groups.back().prologue : p.CodeSince(begin);
    begin = p.code.size();
    p.Emit(Load(kL1, 0, 32 * rnd.Int(16, 1024)));
    const int pieces = rnd.Int(1, 4), k = rnd.Int(1, 8), n1 = rnd.Int(1, 4), m = rnd.Int(1, 64);
    for (int piece = 0; piece < pieces; ++piece) {
      if (!resident) p.Emit(Load(kL1, 65536 + piece % 2 * 4096, 512 * rnd.Int(1, 8)));
      const int half = rnd.Int(0, 1) * piece % 2;
      p.Emit(Load3d{.dst_addr = half * 32768,
                    .dst_m1_stride = k * kFractalBytes,
                    .height = 1,
                    .width = m,
                    .out_w = m,
                    .m_count = m,
                    .k_count = k});
      Load2d b{.dst_addr = half * 32768, .src_addr = 65536, .count = {k, n1}};
      b.dst_stride[0] = b.src_stride[0] = n1 * kFractalBytes;
      p.Emit(b);
      p.Emit(Mmad{.a_addr = half * 32768,
                  .a_m1_stride = k * kFractalBytes,
                  .b_addr = half * 32768,
                  .b_k1_stride = n1 * kFractalBytes,
                  .c_n1_stride = 64 * 64,
                  .m = m,
                  .k1 = k,
                  .n1 = n1,
                  .init = piece == 0 ? kZero : kAccumulate});
      macs += 1.0 * m * k * 16 * n1 * 16 * group.tiles0;
    }
    p.Emit(L0cToUb{.src_n1_stride = 64 * 64, .dst_n1_stride = m * 32, .rows = m, .n1 = n1});
    if (rnd.Int(0, 1)) p.Emit(Unary{.op = UnaryOp::kRelu, .len = m * n1 * 16});
    p.Emit(Store(0, m * n1 * 32));
    group.body = p.CodeSince(begin);
    task->groups.push_back(group);
  }
  task->macs = static_cast<std::uint64_t>(macs);
  return p;
}

Rates RandomRates(Random& rnd) {
  Rates r = SmallChip();
  for (double* x : {&r.l1_l0a, &r.l1_l0b, &r.l1_ub, &r.ub_l1, &r.l0c_ub, &r.vector, &r.move})
    *x *= rnd.Real(0.1, 10);
  r.dram_gbytes_per_s = rnd.Real(1, 300);
  r.dram_latency_cycles = rnd.Real(1, 2000);
  r.cores = rnd.Int(1, 3);
  r.issue = rnd.Int(0, 2);
  r.fixpipe = rnd.Int(0, 1) == 1;
  return r;
}

TEST(Events, NeverBeatsTheRooflineOnRandomPrograms) {
  for (unsigned seed = 1; seed <= 150; ++seed) {
    Random rnd(seed);
    Task task;
    const Program p = RandomProgram(rnd, &task);
    const Rates r = RandomRates(rnd);
    const target::Estimate e = EstimateTask(p, task, r);
    const double bytes = e.bytes.at("dram_read") + e.bytes.at("dram_write");
    EXPECT_GE(e.time_ns * (1 + 1e-9), static_cast<double>(task.macs) / r.peak_macs()) << seed;
    EXPECT_GE(e.time_ns * (1 + 1e-9), bytes / r.dram_gbytes_per_s) << seed;
    for (const auto& [queue, busy] : e.busy_ns) EXPECT_GE(e.time_ns * (1 + 1e-9), busy) << queue;
  }
}

TEST(Events, RaisingAnyRateNeverRaisesTheTime) {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    Random rnd(seed);
    Task task;
    const Program p = RandomProgram(rnd, &task);
    const Rates slow = RandomRates(rnd);
    const double before = TaskCycles(p, task, slow);
    for (double Rates::* rate : {&Rates::l1_l0a, &Rates::l1_l0b, &Rates::l1_ub, &Rates::ub_l1,
                                 &Rates::l0c_ub, &Rates::vector, &Rates::dram_gbytes_per_s}) {
      Rates fast = slow;
      fast.*rate *= rnd.Real(1.01, 100);
      EXPECT_LE(TaskCycles(p, task, fast), before * (1 + 1e-9)) << seed;
    }
    for (double Rates::* cost : {&Rates::dram_latency_cycles, &Rates::head_cube, &Rates::head_mte,
                                 &Rates::head_vector, &Rates::issue}) {
      Rates fast = slow;
      fast.*cost *= rnd.Real(0.01, 0.99);
      EXPECT_LE(TaskCycles(p, task, fast), before * (1 + 1e-9)) << seed;
    }
    Rates clock = slow;  // all but DRAM, in time
    clock.clock_ghz *= 2;
    EXPECT_LE(TaskCycles(p, task, clock) / 2, before * (1 + 1e-9)) << seed;
  }
}

TEST(Events, TakingACauseAwayNeverAddsTime) {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    Random rnd(seed);
    Task task;
    const Program p = RandomProgram(rnd, &task);
    Rates r = RandomRates(rnd);
    r.dispatch_us = 1;
    target::Relief relief;
    double before = EstimateTask(p, task, r).time_ns;
    for (int c = 0; c < target::kCauseCount; ++c) {
      relief = relief.With(static_cast<target::Cause>(c));
      const double now = EstimateTask(p, task, r, relief).time_ns;
      EXPECT_LE(now, before * (1 + 1e-9)) << seed << " " << c;
      before = now;
    }
  }
}

TEST(Events, LeavingOutTilesOfALongLoopChangesNothing) {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    Random rnd(seed);
    Task task;
    const Program p = RandomProgram(rnd, &task);
    for (Group& g : task.groups) g.tiles0 = static_cast<std::uint32_t>(rnd.Int(100, 400));
    const Rates r = RandomRates(rnd);
    const TaskPlan plan = PlanTask(p, task);
    const auto duration = [&](const Planned& x) {
      const InstructionCost c = CostOf(x.words, r);
      return Duration{c.cycles, (c.dram_read + c.dram_write) / r.dram_bytes_per_cycle(),
                      c.dram_read > 0 ? r.dram_latency_cycles : 0};
    };
    EventOptions options{.cores = static_cast<int>(r.cores), .fixpipe = r.fixpipe};
    const TaskTimes fast = RunTask(plan, task.groups, duration, options);
    std::size_t spans = 0;
    options.span = [&](const EventSpan&) { ++spans; };  // runs every tile
    const TaskTimes all = RunTask(plan, task.groups, duration, options);
    EXPECT_NEAR(fast.cycles, all.cycles, all.cycles * 1e-9) << seed;
    EXPECT_GT(spans, 100u);
    for (std::size_t q = 0; q < kQueueCount; ++q)
      EXPECT_NEAR(fast.busy[q], all.busy[q], all.cycles * 1e-9) << seed;
  }
}

// Tracing a loop of any length takes bounded room, says what it left out, and changes no time.
TEST(Events, TracingALongLoopIsBounded) {
  Program p = Empty();
  p.Emit(Load(kUb, 0, 640));
  p.Emit(Unary{.op = UnaryOp::kExp, .len = 320});
  p.Emit(Store(0, 640));
  const Task task{"long", {{1 << 20, 1, {}, p.CodeSince(0)}}, 0};
  const Rates r = SmallChip();
  const TaskPlan plan = PlanTask(p, task);
  std::uint64_t spans = 0;
  EventOptions options;
  options.span = [&](const EventSpan&) { ++spans; };
  const TaskTimes times = RunTask(
      plan, task.groups,
      [&](const Planned& x) {
        const InstructionCost c = CostOf(x.words, r);
        return Duration{c.cycles, (c.dram_read + c.dram_write) / r.dram_bytes_per_cycle(),
                        c.dram_read > 0 ? r.dram_latency_cycles : 0};
      },
      options);
  EXPECT_LE(spans, 3 * (kMostTilesRun + 8));
  EXPECT_EQ(spans + times.spans_left_out, 3u << 20);
  EXPECT_NEAR(times.cycles, TaskCycles(p, task, r), times.cycles * 1e-9);
}

TEST(Events, SpansOfOneQueueAndOfDramNeverOverlap) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    Random rnd(seed);
    Task task;
    const Program p = RandomProgram(rnd, &task);
    const Rates r = RandomRates(rnd);
    const TaskPlan plan = PlanTask(p, task);
    std::vector<EventSpan> spans;
    EventOptions options{.cores = static_cast<int>(r.cores), .fixpipe = r.fixpipe};
    options.span = [&](const EventSpan& s) { spans.push_back(s); };
    RunTask(
        plan, task.groups,
        [&](const Planned& x) {
          const InstructionCost c = CostOf(x.words, r);
          return Duration{c.cycles, (c.dram_read + c.dram_write) / r.dram_bytes_per_cycle(), 0};
        },
        options);
    std::vector<std::pair<double, double>> dram;
    std::map<std::pair<int, int>, double> free;
    for (const EventSpan& s : spans) {
      double& until = free[{s.core, static_cast<int>(s.queue)}];
      EXPECT_GE(s.start, until) << seed;  // of one queue spans come in order
      until = s.end;
      if (s.dram_end > s.dram_start) dram.emplace_back(s.dram_start, s.dram_end);
    }
    std::sort(dram.begin(), dram.end());
    for (std::size_t i = 1; i < dram.size(); ++i)
      EXPECT_GE(dram[i].first, dram[i - 1].second - kTolerance) << seed;
  }
}

}  // namespace
}  // namespace npukit::npu
