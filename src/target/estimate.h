// What something costs on a profile: time, energy, bytes, each of one kind. A value; adds up with
// +=.
#pragma once

#include <map>
#include <string>

#include "target/fact.h"

namespace npukit::target {

struct Estimate {
  double time_ns = 0;
  Kind kind = Kind::kModelled;
  std::map<std::string, double>
      energy_pj;  // per component: "cube", "vector", "sram", "dram", "cpu", ...
  std::map<std::string, double> busy_ns;  // per queue: "mte2", "cube", ...
  std::map<std::string, double> bytes;    // per memory: "dram_read", "dram_write", "l1", ...
  // Queues standing still, by cause: "cube waits for data from mte1", ... Not kept in packages.
  std::map<std::string, double> stalls_ns;
  double macs = 0;
  double total_energy_pj() const {
    double e = 0;
    for (const auto& [k, v] : energy_pj) e += v;
    return e;
  }
  // Serial composition: times add. The kind becomes the weaker of the two.
  Estimate& operator+=(const Estimate& o) {
    time_ns += o.time_ns;
    macs += o.macs;
    if (o.kind < kind) kind = o.kind;
    for (const auto& [k, v] : o.energy_pj) energy_pj[k] += v;
    for (const auto& [k, v] : o.busy_ns) busy_ns[k] += v;
    for (const auto& [k, v] : o.bytes) bytes[k] += v;
    for (const auto& [k, v] : o.stalls_ns) stalls_ns[k] += v;
    return *this;
  }
};

}  // namespace npukit::target
