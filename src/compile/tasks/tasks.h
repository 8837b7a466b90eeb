// The tasks a vendor's published stack makes of a graph, one after the other, and what each asks of
// the chip: for predicting times that were published for that stack (`validate`). This is not how
// npukit compiles: no tiling, no placement, no rewrite of npukit's own.
//
// What the stack fuses, and how many tasks it makes of an operator, are facts of the profile
// (npu.stack.*); nothing here knows a stack, a chip or a network by name. Pure functions; all may
// be called from any thread. Bytes are those of fp16 tensors in DRAM, channels padded as the
// profile says; cycles are of the profile's cube.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "base/status.h"
#include "ir/graph.h"
#include "target/profile.h"

namespace npukit::compile {

struct StackTask {
  std::string name;        // of the node that leads it, "+n" for what was fused into it
  std::string op;          // its operator: "conv2d"
  double macs = 0;         // multiply-adds without padding
  double cube_cycles = 0;  // of the busiest core, padding included
  double vector_bytes = 0;
  // To and from DRAM.
  double read_bytes = 0;    // activations that the system cache does not hold
  double weight_bytes = 0;  // constants, laid out as the cube reads them
  double written_bytes = 0;
  // Through the system cache: all of it.
  double cache_read_bytes = 0;
  double cache_written_bytes = 0;
};

// `g` as imported, static, constants folded. kUnsupported names the first foreign node;
// kInvalidArgument: a shape is open; kNotFound: the profile describes no stack, or misses a fact of
// its cube.
Result<std::vector<StackTask>> StackTasks(const ir::Graph& g, const target::Profile& profile);

// The published rates that turn a task into time.
struct StackRates {
  double cube_cycles_per_ns = 0;  // of one core
  double vector_bytes_per_ns = 0;
  double dram_bytes_per_ns = 0;
  // Of all cores together; no limit where the profile has no system cache.
  double cache_read_bytes_per_ns = std::numeric_limits<double>::infinity();
  double cache_written_bytes_per_ns = std::numeric_limits<double>::infinity();
};
Result<StackRates> ReadStackRates(const target::Profile& profile);

// Cube, vector unit, cache and DRAM work at the same time within a task: the slowest decides. What
// dispatching it costs comes on top.
struct StackTime {
  double cube_ns = 0, vector_ns = 0, dram_ns = 0, cache_ns = 0;
  double ns() const;
};
StackTime TimeOf(const StackTask& task, const StackRates& rates);

}  // namespace npukit::compile
