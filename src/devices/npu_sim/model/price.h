// What one instruction costs on its own: cycles of its queue, bytes of DRAM, energy counts. The
// formulas are in ../README.md. Pure functions.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/status.h"
#include "devices/npu_sim/blob/blob.h"
#include "target/account.h"
#include "target/profile.h"

namespace npukit::npu {

// In-order queues of a core. Instructions reach them through the scalar unit, in the order of the
// list.
enum class Queue : std::uint8_t { kScalar = 0, kMte1, kMte2, kMte3, kCube, kVector, kFixpipe };
inline constexpr int kQueueCount = 7;
std::string_view QueueName(Queue q);  // "mte1", ...

// The facts of a profile that the model needs, read once.
struct Rates {
  double cores = 1, clock_ghz = 1;
  double m[2] = {16, 16}, k[2] = {16, 32}, n[2] = {16, 16};  // [0] fp16, [1] int8
  double accumulator_bytes = 4;
  double l1_l0a = 1, l1_l0b = 1, l1_ub = 1, ub_l1 = 1, l0c_ub = 1, vector = 1, move = 1;  // B/cycle
  double dram_gbytes_per_s = 1, dram_burst_bytes = 1, dram_latency_cycles = 0;
  double head_cube = 0, head_vector = 0, head_mte = 0, issue = 0;  // cycles
  bool fixpipe = false;  // accumulators leave L0C on a queue of their own
  double dispatch_us = 0, fixed_us = 0;
  double mac_pj[2] = {0, 0}, vector_pj = 0, sram_pj_per_byte = 0, dram_pj_per_byte = 0, idle_mw = 0;

  double dram_bytes_per_cycle() const { return dram_gbytes_per_s / clock_ghz; }
  // Multiply-adds a cycle, all cores.
  double peak_macs(int type = 0) const { return m[type] * k[type] * n[type] * cores; }
};
Result<Rates> ReadRates(const target::Profile& profile);  // kNotFound names the missing fact

struct InstructionCost {
  Queue queue = Queue::kVector;
  double cycles = 0;             // of the queue, DRAM transfer excluded
  double cube_macs[2] = {0, 0};  // done by the cube, padding included: fp16, int8
  double vector_elements = 0;
  double sram_bytes = 0;
  double dram_read = 0, dram_write = 0;  // paid bytes: whole bursts
  bool weights = false;                  // reads DRAM that holds weights
  bool arithmetic = false;               // more than moving, filling or converting
};
// `words` points at the header of a checked instruction.
InstructionCost CostOf(const std::int32_t* words, const Rates& rates);

}  // namespace npukit::npu
