#include "devices/cpu/model/model.h"

#include <algorithm>

namespace npukit::devices::cpu {

target::Estimate Roofline(const CallSize& size, const target::Profile& profile) {
  target::Estimate e;
  e.kind = target::Kind::kModelled;
  const auto fact = [&](const char* key, double otherwise) {
    if (!profile.Has(key)) e.kind = target::Kind::kAssumed;
    return profile.NumberOr(key, otherwise);
  };
  // The defaults are those of one middling phone core; they only stand in where a profile says
  // nothing.
  const double cores = fact("cpu.cores", 1);
  const double gflops = fact("cpu.fp32_gflops_per_core", 16);
  const double gbytes = fact("cpu.dram_gbytes_per_s", 10);
  const double dispatch_us = fact("cpu.dispatch_us", 2);
  const double pj_per_flop = fact("cpu.pj_per_flop", 20);
  const double pj_per_byte = fact("cpu.pj_per_dram_byte", 60);
  const double flops = 2 * size.macs + size.vector_ops;
  const double compute_ns =
      flops / std::max(cores * gflops, 1e-9);  // one GFLOP/s is one FLOP a nanosecond
  const double memory_ns = size.bytes / std::max(gbytes, 1e-9);
  e.time_ns = std::max(compute_ns, memory_ns) + dispatch_us * 1000;
  e.macs = size.macs;
  e.busy_ns["cpu"] = e.time_ns;
  e.bytes["dram"] = size.bytes;
  e.energy_pj["cpu"] = flops * pj_per_flop;
  e.energy_pj["dram"] = size.bytes * pj_per_byte;
  return e;
}

}  // namespace npukit::devices::cpu
