#include "devices/cpu/model/model.h"

#include <gtest/gtest.h>

namespace npukit::devices::cpu {
namespace {

target::Profile HandProfile() {
  target::Profile p;
  const auto set = [&](const char* key, double v) { p.facts[key].value = v; };
  set("cpu.cores", 4);
  set("cpu.fp32_gflops_per_core", 25);
  set("cpu.dram_gbytes_per_s", 20);
  set("cpu.dispatch_us", 3);
  set("cpu.pj_per_flop", 10);
  set("cpu.pj_per_dram_byte", 100);
  return p;
}

// By hand: 1e6 MACs are 2e6 FLOP; 4 x 25 GFLOP/s do 100 FLOP a nanosecond: 20,000 ns, and 3,000 ns
// to start.
TEST(CpuRoofline, IsBoundByArithmeticWhenBytesAreFew) {
  const target::Estimate e = Roofline({.macs = 1e6, .vector_ops = 0, .bytes = 1000}, HandProfile());
  EXPECT_DOUBLE_EQ(e.time_ns, 23000);
  EXPECT_EQ(e.kind, target::Kind::kModelled);
  EXPECT_DOUBLE_EQ(e.energy_pj.at("cpu"), 2e7);
  EXPECT_DOUBLE_EQ(e.energy_pj.at("dram"), 1e5);
}

// By hand: 2e6 bytes at 20 bytes a nanosecond: 100,000 ns, and 3,000 ns.
TEST(CpuRoofline, IsBoundByMemoryWhenArithmeticIsLittle) {
  EXPECT_DOUBLE_EQ(Roofline({.macs = 0, .vector_ops = 1e6, .bytes = 2e6}, HandProfile()).time_ns,
                   103000);
}

TEST(CpuRoofline, SaysAssumedWhereAFactIsMissing) {
  target::Profile p = HandProfile();
  p.facts.erase("cpu.cores");
  EXPECT_EQ(Roofline({.macs = 1}, p).kind, target::Kind::kAssumed);
}

}  // namespace
}  // namespace npukit::devices::cpu
