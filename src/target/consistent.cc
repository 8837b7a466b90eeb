#include "target/consistent.h"

#include <cmath>
#include <span>

#include "base/text.h"

namespace npukit::target {
namespace {

constexpr std::string_view kCpuFacts[] = {
    "cpu.cores",       "cpu.dispatch_us",      "cpu.dram_gbytes_per_s", "cpu.fp32_gflops_per_core",
    "cpu.pj_per_flop", "cpu.pj_per_dram_byte",
};
constexpr std::string_view kNpuFacts[] = {
    "npu.boundary_gbytes_per_s",
    "npu.boundary_us",
    "npu.bw.l0c_ub",
    "npu.bw.l1_l0a",
    "npu.bw.l1_l0b",
    "npu.bw.l1_ub",
    "npu.bw.ub_l1",
    "npu.clock_ghz",
    "npu.cores",
    "npu.cube.accumulator_fp16_bits",
    "npu.cube.k_fp16",
    "npu.cube.k_int8",
    "npu.cube.m_fp16",
    "npu.cube.m_int8",
    "npu.cube.n_fp16",
    "npu.cube.n_int8",
    "npu.dispatch_us",
    "npu.dram_burst_bytes",
    "npu.dram_gbytes_per_s",
    "npu.dram_latency_cycles",
    "npu.energy.dram_pj_per_byte",
    "npu.energy.idle_mw",
    "npu.energy.mac_fp16_pj",
    "npu.energy.mac_int8_pj",
    "npu.energy.sram_pj_per_byte",
    "npu.energy.vector_pj",
    "npu.fixpipe",
    "npu.head.cube_cycles",
    "npu.head.issue_cycles",
    "npu.head.mte_cycles",
    "npu.head.vector_cycles",
    "npu.inference_fixed_us",
    "npu.l0a_bytes",
    "npu.l0b_bytes",
    "npu.l0c_bytes",
    "npu.sram_bytes",
    "npu.ub_bytes",
    "npu.vector.bytes_per_cycle",
    "npu.vector.move_bytes_per_cycle",
};

// Things that are counted, or of which there is no half.
constexpr std::string_view kWhole[] = {
    "cpu.cores",
    "npu.cores",
    "npu.fixpipe",
    "npu.cube.k_fp16",
    "npu.cube.k_int8",
    "npu.cube.m_fp16",
    "npu.cube.m_int8",
    "npu.cube.n_fp16",
    "npu.cube.n_int8",
    "npu.l0a_bytes",
    "npu.l0b_bytes",
    "npu.l0c_bytes",
    "npu.sram_bytes",
    "npu.ub_bytes",
    "npu.l2_bytes",
    "npu.stack.channel_block",
    "npu.stack.merges_groups",
};

Status Bad(const Profile& p, std::string what) {
  return InvalidArgument(Cat("profile ", Printable(p.name), ": ", what));
}

Status CheckWholeNumber(const Profile& p, std::string_view key) {
  const Result<double> v = p.Number(key);
  if (!v.ok() || *v == std::floor(*v)) return OkStatus();
  return Bad(p, Cat("fact ", Printable(key), ": expected a whole number, found ", *v));
}

// The buffer holds at least one block of `rows` by `columns` elements.
struct BlockRule {
  std::string_view buffer, rows, columns;
  double bytes;  // of an element; 0: of an accumulator
};
constexpr BlockRule kBlockRules[] = {
    {"npu.l0a_bytes", "npu.cube.m_fp16", "npu.cube.k_fp16", 2},
    {"npu.l0a_bytes", "npu.cube.m_int8", "npu.cube.k_int8", 1},
    {"npu.l0b_bytes", "npu.cube.k_fp16", "npu.cube.n_fp16", 2},
    {"npu.l0b_bytes", "npu.cube.k_int8", "npu.cube.n_int8", 1},
    {"npu.l0c_bytes", "npu.cube.m_fp16", "npu.cube.n_fp16", 0},
    {"npu.l0c_bytes", "npu.cube.m_int8", "npu.cube.n_int8", 4},
};

Status CheckBlock(const Profile& p, const BlockRule& rule) {
  for (const std::string_view key : {rule.buffer, rule.rows, rule.columns}) {
    if (!p.Has(key)) return OkStatus();
  }
  const double bytes =
      rule.bytes > 0 ? rule.bytes : p.NumberOr("npu.cube.accumulator_fp16_bits", 16) / 8;
  const double rows = p.NumberOr(rule.rows, 1), columns = p.NumberOr(rule.columns, 1);
  const double found = p.NumberOr(rule.buffer, 0);
  if (found >= rows * columns * bytes) return OkStatus();
  return Bad(p, Cat(rule.buffer, " = ", found, " holds no block of the cube: ", rule.rows, " = ",
                    rows, " by ", rule.columns, " = ", columns, " needs ", rows * columns * bytes,
                    " bytes; one of the three is wrong"));
}

}  // namespace

Status CheckConsistent(const Profile& p) {
  if (!p.has_npu()) {
    for (const auto& [key, fact] : p.facts) {
      if (!key.starts_with("npu.")) continue;
      return Bad(p, Cat("fact ", Printable(key),
                        " is of an NPU, but there is none: npu.model is missing; name a chip with "
                        "an NPU (npukit targets lists them)"));
    }
  }
  for (const std::string_view key : kWhole) NPUKIT_RETURN_IF_ERROR(CheckWholeNumber(p, key));
  for (const auto& [key, fact] : p.facts) {
    if (key.starts_with("npu.op.") || key.starts_with("npu.stack.tasks."))
      NPUKIT_RETURN_IF_ERROR(CheckWholeNumber(p, key));
  }
  const double bits = p.NumberOr("npu.cube.accumulator_fp16_bits", 16);
  if (bits != 16 && bits != 32) {
    return Bad(p, Cat("fact npu.cube.accumulator_fp16_bits: expected 16 or 32 bits, found ", bits));
  }
  const double burst = p.NumberOr("npu.dram_burst_bytes", 1);
  if (std::exp2(std::round(std::log2(burst))) != burst) {
    return Bad(p, Cat("fact npu.dram_burst_bytes: expected a power of two, found ", burst));
  }
  for (const BlockRule& rule : kBlockRules) NPUKIT_RETURN_IF_ERROR(CheckBlock(p, rule));
  return OkStatus();
}

Status CheckComplete(const Profile& p) {
  const auto need = [&](std::span<const std::string_view> keys, std::string_view whose) -> Status {
    for (const std::string_view key : keys) {
      if (p.Has(key)) continue;
      return Bad(p, Cat("fact ", key, " is missing; ", whose, " needs it (profiles/README.md)"));
    }
    return OkStatus();
  };
  NPUKIT_RETURN_IF_ERROR(need(kCpuFacts, "every profile"));
  return p.has_npu() ? need(kNpuFacts, "every profile with an NPU") : OkStatus();
}

}  // namespace npukit::target
