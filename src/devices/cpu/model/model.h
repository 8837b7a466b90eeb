// What a call costs on a profile's CPU: a roofline. Pure. lower/ prices nodes with it, run/ tells
// virtual time with it.
#pragma once

#include "target/estimate.h"
#include "target/profile.h"

namespace npukit::devices::cpu {

struct CallSize {
  double macs = 0;
  double vector_ops = 0;
  double bytes = 0;  // inputs, weights and outputs, each once
};

// The larger of arithmetic time (cpu.cores x cpu.fp32_gflops_per_core) and memory time
// (cpu.dram_gbytes_per_s), and cpu.dispatch_us. Kind: modelled; assumed where the profile lacks one
// of the facts and a default stands in.
target::Estimate Roofline(const CallSize& size, const target::Profile& profile);

}  // namespace npukit::devices::cpu
