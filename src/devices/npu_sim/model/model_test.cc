// Costs worked out by hand from the formulas in src/devices/npu_sim/README.md.
#include "devices/npu_sim/model/model.h"

#include <gtest/gtest.h>

namespace npukit::npu {
namespace {

Rates TestRates() {
  Rates r;
  r.cores = 2;
  r.clock_ghz = 1;
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
  r.dispatch_us = 10;
  r.fixed_us = 100;
  r.mac_pj[0] = 0.5;
  r.vector_pj = 2;
  r.sram_pj_per_byte = 1;
  r.dram_pj_per_byte = 50;
  r.idle_mw = 100;
  return r;
}

template <class T>
InstructionCost Cost(const T& x, const Rates& r) {
  Program p;
  p.Emit(x);
  return CostOf(p.code.data(), r);
}

TEST(Model, CubePaysWholeBlocks) {
  Rates r = TestRates();
  const Mmad x{.m = 40, .k1 = 3, .n1 = 2};
  // ceil(40 / 16) * 3 * 2 = 18 blocks of 4096 products, plus the head.
  EXPECT_EQ(Cost(x, r).queue, Queue::kCube);
  EXPECT_EQ(Cost(x, r).cycles, 24);
  EXPECT_EQ(Cost(x, r).cube_macs[0], 18 * 4096);
  // A cube of 4 rows has no underfill at 40 rows; one of 8 columns takes twice the steps.
  r.m[0] = 4;
  EXPECT_EQ(Cost(x, r).cycles, 6 + 10 * 3 * 2);
  r = TestRates();
  r.n[0] = 8;
  EXPECT_EQ(Cost(x, r).cycles, 6 + 3 * 3 * 4);
}

TEST(Model, DramPaysWholeBursts) {
  const Rates r = TestRates();
  Copy x;
  x.src = {.mem = kWorkspace};
  x.dst = {.mem = kL1};
  x.count[2] = 4;
  x.bytes = 100;
  x.src_stride[2] = 100;  // four runs in one stretch: 400 bytes, 7 bursts of 64
  EXPECT_EQ(Cost(x, r).dram_read, 448);
  EXPECT_EQ(Cost(x, r).queue, Queue::kMte2);
  EXPECT_EQ(Cost(x, r).cycles, 20);  // the transfer itself is DRAM's
  x.src_stride[2] = 1000;            // four stretches of 2 bursts
  EXPECT_EQ(Cost(x, r).dram_read, 512);
  std::swap(x.src, x.dst);
  x.src = {.mem = kUb};
  std::swap(x.src_stride, x.dst_stride);
  EXPECT_EQ(Cost(x, r).dram_write, 512);
  EXPECT_EQ(Cost(x, r).queue, Queue::kMte3);
}

TEST(Model, LoadsAndVectorsPayTheirBytes) {
  const Rates r = TestRates();
  // 3 fractals of rows, 2 blocks: 3072 bytes at 512 per cycle.
  const InstructionCost load = Cost(Load3d{.m_count = 40, .k_count = 2}, r);
  EXPECT_EQ(load.queue, Queue::kMte1);
  EXPECT_EQ(load.cycles, 20 + 6);
  // 10 rows of 20 fp16, each paid as 64 bytes.
  Unary u{.len = 20};
  u.count[3] = 10;
  EXPECT_EQ(Cost(u, r).cycles, 5 + 10 * 64 / 128.0);
  EXPECT_EQ(Cost(u, r).vector_elements, 200);
  // 3 x 3 taps over 4 x 8 outputs of one block: 9 * 32 * 32 bytes.
  EXPECT_EQ(Cost(Window{.kernel_h = 3, .kernel_w = 3, .count = {1, 4, 8}}, r).cycles,
            5 + 9 * 32 * 32 / 128.0);
  // Single elements move at their own rate.
  Move m;
  m.count[4] = 64;
  m.dst_stride[4] = 2;
  m.src_stride[4] = 200;
  EXPECT_EQ(Cost(m, r).cycles, 5 + 128 / 32.0);
}

TEST(Model, TaskIsItsLongestQueuePlusDispatch) {
  const Rates r = TestRates();
  Program p;
  p.Emit(Mmad{.m = 16, .k1 = 100, .n1 = 10});  // 1006 cycles
  Unary u{.len = 64};                          // 5 + 1 cycles
  p.Emit(u);
  Task task{"t", {{3, 1, {}, p.CodeSince(0)}}, 777};
  // Three tiles on two cores: the busier one has two.
  const target::Estimate e = EstimateTask(p, task, r);
  EXPECT_EQ(e.busy_ns.at("cube"), 2012);
  EXPECT_EQ(e.busy_ns.at("vector"), 12);
  EXPECT_EQ(e.time_ns, 2012 + 10000);
  EXPECT_EQ(e.macs, 777);
  EXPECT_EQ(e.energy_pj.at("cube"), 3 * 1000 * 4096 * 0.5);
  EXPECT_EQ(e.energy_pj.at("vector"), 3 * 64 * 2.0);
  EXPECT_EQ(e.energy_pj.at("idle"), e.time_ns * 100);
  EXPECT_EQ(e.kind, target::Kind::kModelled);
}

TEST(Model, CoresShareOneDram) {
  const Rates r = TestRates();
  Program p;
  Copy x;
  x.src = {.mem = kWorkspace};
  x.dst = {.mem = kL1};
  x.bytes = 64000;  // 2000 ns at 32 GB/s
  p.Emit(x);
  const Task task{"t", {{4, 1, {}, p.CodeSince(0)}}, 0};
  const target::Estimate e = EstimateTask(p, task, r);
  // Each of two cores would need 2 * 2020 cycles alone, but together they move 256000 bytes, 8000
  // ns, after the first head; then latency and dispatch.
  EXPECT_EQ(e.busy_ns.at("mte2"), 4040);
  EXPECT_EQ(e.time_ns, 20 + 8000 + 1000 + 10000);
  EXPECT_EQ(e.energy_pj.at("dram"), 256000 * 50.0);
}

TEST(Model, ProloguesArePaidOncePerCore) {
  const Rates r = TestRates();
  Program p;
  p.Emit(Mmad{.m = 16, .k1 = 100, .n1 = 10});
  const Code prologue = p.CodeSince(0);
  const std::size_t begin = p.code.size();
  p.Emit(Unary{.len = 64});
  const Task task{"t", {{10, 1, prologue, p.CodeSince(begin)}}, 0};
  const target::Estimate e = EstimateTask(p, task, r);
  EXPECT_EQ(e.busy_ns.at("cube"), 1006);
  EXPECT_EQ(e.energy_pj.at("cube"), 2 * 1000 * 4096 * 0.5);
}

TEST(Model, MissingFactIsNamed) {
  target::Profile p;
  p.name = "bare";
  const auto r = ReadRates(p);
  ASSERT_FALSE(r.ok());
  EXPECT_NE(r.status().message().find("npu.cores"), std::string::npos);
}

}  // namespace
}  // namespace npukit::npu
