#include "target/consistent.h"

#include <gtest/gtest.h>

namespace npukit::target {
namespace {

Profile With(std::initializer_list<std::pair<const char*, double>> facts, bool npu = true) {
  Profile p;
  p.name = "chip";
  const auto set = [&](const char* key, FactValue v) {
    p.facts[key] = {std::move(v), Source::kAssumed, "test", "2026-01-02"};
  };
  if (npu) set("npu.model", std::string("core"));
  for (const auto& [key, value] : facts) set(key, value);
  return p;
}

struct Case {
  Profile profile;
  std::vector<std::string> says;  // "": consistent
};

TEST(CheckConsistent, NamesTheFactsThatContradict) {
  const std::vector<Case> cases = {
      {With({}), {}},
      {With({}, false), {}},
      {With({{"cpu.cores", 4}}, false), {}},
      {With({{"npu.cores", 2}}, false), {"npu.cores", "npu.model"}},
      {With({{"npu.op.conv2d.max_kernel", 3}}, false), {"npu.op.conv2d.max_kernel", "npu.model"}},
      {With({{"npu.cores", 2}}), {}},
      {With({{"npu.cores", 1.5}}), {"npu.cores", "whole number", "1.5"}},
      {With({{"cpu.cores", 2.5}}, false), {"cpu.cores", "whole number"}},
      {With({{"npu.cube.k_fp16", 15.5}}), {"npu.cube.k_fp16", "whole number"}},
      {With({{"npu.sram_bytes", 1024.25}}), {"npu.sram_bytes", "whole number"}},
      {With({{"npu.op.conv2d.max_kernel", 3.5}}), {"npu.op.conv2d.max_kernel", "whole number"}},
      {With({{"npu.stack.tasks.swish", 1.5}}), {"npu.stack.tasks.swish", "whole number"}},
      {With({{"npu.clock_ghz", 0.75}}), {}},
      {With({{"npu.cube.accumulator_fp16_bits", 16}}), {}},
      {With({{"npu.cube.accumulator_fp16_bits", 32}}), {}},
      {With({{"npu.cube.accumulator_fp16_bits", 24}}), {"16 or 32", "24"}},
      {With({{"npu.dram_burst_bytes", 1}}), {}},
      {With({{"npu.dram_burst_bytes", 4096}}), {}},
      {With({{"npu.dram_burst_bytes", 48}}), {"npu.dram_burst_bytes", "power of two", "48"}},
      {With({{"npu.dram_burst_bytes", 1.5}}), {"npu.dram_burst_bytes", "power of two"}},
      // 16 x 16 fp16 are 512 bytes, 16 x 32 int8 too; 16 x 16 accumulators of 32 bits are 1024.
      {With({{"npu.l0a_bytes", 512}, {"npu.cube.m_fp16", 16}, {"npu.cube.k_fp16", 16}}), {}},
      {With({{"npu.l0a_bytes", 512}, {"npu.cube.m_fp16", 16}, {"npu.cube.k_fp16", 32}}),
       {"npu.l0a_bytes = 512", "npu.cube.k_fp16 = 32", "1024 bytes"}},
      {With({{"npu.l0a_bytes", 512}, {"npu.cube.m_int8", 16}, {"npu.cube.k_int8", 64}}),
       {"npu.l0a_bytes = 512", "npu.cube.k_int8 = 64"}},
      {With({{"npu.l0b_bytes", 512}, {"npu.cube.k_fp16", 16}, {"npu.cube.n_fp16", 32}}),
       {"npu.l0b_bytes = 512", "npu.cube.n_fp16 = 32"}},
      {With({{"npu.l0c_bytes", 512}, {"npu.cube.m_fp16", 16}, {"npu.cube.n_fp16", 16}}), {}},
      {With({{"npu.l0c_bytes", 512},
             {"npu.cube.m_fp16", 16},
             {"npu.cube.n_fp16", 16},
             {"npu.cube.accumulator_fp16_bits", 32}}),
       {"npu.l0c_bytes = 512", "1024 bytes"}},
      {With({{"npu.l0c_bytes", 512}, {"npu.cube.m_int8", 16}, {"npu.cube.n_int8", 16}}),
       {"npu.l0c_bytes = 512", "1024 bytes"}},
  };
  for (const Case& c : cases) {
    const Status s = CheckConsistent(c.profile);
    std::string facts;
    for (const auto& [key, fact] : c.profile.facts) facts += key + " ";
    EXPECT_EQ(s.ok(), c.says.empty()) << facts << s.message();
    if (s.ok()) continue;
    EXPECT_EQ(s.code(), Code::kInvalidArgument) << facts;
    EXPECT_EQ(s.message().find('\n'), std::string::npos);
    EXPECT_TRUE(s.message().starts_with("profile chip: ")) << s.message();
    for (const std::string& part : c.says)
      EXPECT_NE(s.message().find(part), std::string::npos) << part << " in: " << s.message();
  }
}

TEST(CheckComplete, NamesWhatIsMissing) {
  Profile p = With({{"cpu.cores", 4},
                    {"cpu.dispatch_us", 1},
                    {"cpu.dram_gbytes_per_s", 20},
                    {"cpu.fp32_gflops_per_core", 15},
                    {"cpu.pj_per_dram_byte", 48},
                    {"cpu.pj_per_flop", 20}},
                   false);
  EXPECT_TRUE(CheckComplete(p).ok()) << CheckComplete(p).message();
  p.facts["npu.model"] = {std::string("core"), Source::kAssumed, "test", "2026-01-02"};
  Status s = CheckComplete(p);
  EXPECT_EQ(s.code(), Code::kInvalidArgument);
  EXPECT_NE(s.message().find("npu.boundary_gbytes_per_s is missing"), std::string::npos)
      << s.message();
  p.facts.erase("npu.model");
  p.facts.erase("cpu.dispatch_us");
  s = CheckComplete(p);
  EXPECT_NE(s.message().find("cpu.dispatch_us is missing"), std::string::npos) << s.message();
}

}  // namespace
}  // namespace npukit::target
