// What a program costs on a profile: a closed form over its instructions, no values touched. Pure
// functions; the same program and profile give the same figures on every machine. The formulas are
// in ../README.md.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/status.h"
#include "devices/npu_sim/blob/blob.h"
#include "target/estimate.h"
#include "target/profile.h"

namespace npukit::npu {

enum class Queue : std::uint8_t { kMte1 = 0, kMte2, kMte3, kCube, kVector };
inline constexpr int kQueueCount = 5;
std::string_view QueueName(Queue q);  // "mte1", ...

// The facts of a profile that the model needs, read once.
struct Rates {
  double cores = 1, clock_ghz = 1;
  double m[2] = {16, 16}, k[2] = {16, 32}, n[2] = {16, 16};  // [0] fp16, [1] int8
  double accumulator_bytes = 4;
  double l1_l0a = 1, l1_l0b = 1, l1_ub = 1, ub_l1 = 1, l0c_ub = 1, vector = 1, move = 1;  // B/cycle
  double dram_gbytes_per_s = 1, dram_burst_bytes = 1, dram_latency_cycles = 0;
  double head_cube = 0, head_vector = 0, head_mte = 0;  // cycles
  double dispatch_us = 0, fixed_us = 0;
  double mac_pj[2] = {0, 0}, vector_pj = 0, sram_pj_per_byte = 0, dram_pj_per_byte = 0, idle_mw = 0;
};
Result<Rates> ReadRates(const target::Profile& profile);  // kNotFound names the missing fact

// What one instruction adds.
struct InstructionCost {
  Queue queue = Queue::kVector;
  double cycles = 0;
  double cube_macs[2] = {0, 0};  // done by the cube, padding included: fp16, int8
  double vector_elements = 0;
  double sram_bytes = 0;
  double dram_read = 0, dram_write = 0;  // paid bytes: whole bursts
};
// `words` points at the header of a checked instruction.
InstructionCost CostOf(const std::int32_t* words, const Rates& rates);

// One task: dispatch included, the call's fixed cost not.
target::Estimate EstimateTask(const Program& program, const Task& task, const Rates& rates);
// Handing one tensor from the CPU or to it: flush, and the way through memory. The task that
// converts it is not in it.
target::Estimate EstimateHandOver(const tensor::Type& type, const target::Profile& profile);
// One run of a checked program: the call's fixed cost, every task, and handing over every input and
// output.
Result<target::Estimate> EstimateProgram(const Program& program, const target::Profile& profile);

}  // namespace npukit::npu
