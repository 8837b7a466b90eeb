// Where the time of one run of a compiled blob goes: what a device's model tells `bench --ops`,
// `explain`, reports and traces. Values without pointers; every figure has the kind of its
// estimate.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "target/estimate.h"

namespace npukit::target {

// What `explain` takes away to see how much time it costs, in the order in which it does. A model
// prices a blob as if the causes in a Relief cost nothing; taking one more away never adds time.
enum class Cause : std::uint8_t {
  kDispatch = 0,     // fixed cost per task and per call
  kWeightStreaming,  // reading weights from DRAM
  kShapeUnderfill,   // products of padding: shapes that do not fill the cube's block
  kVectorBound,      // work of the vector unit
  kLayout,           // tasks that only change layout or type
  kBoundary,         // tensors crossing between devices
  kCpuIslands,       // operators that fell off the accelerator
};
inline constexpr int kCauseCount = 7;
std::string_view CauseName(Cause c);  // "dispatch", "weight_streaming", ...: stable, in JSON

struct Relief {
  std::uint32_t bits = 0;
  constexpr bool has(Cause c) const { return (bits >> static_cast<unsigned>(c) & 1) != 0; }
  constexpr Relief With(Cause c) const { return {bits | 1U << static_cast<unsigned>(c)}; }
};

// One fused operator of a blob, in order of running; tasks do not overlap unless start_ns says so.
struct TaskAccount {
  std::string name;        // of the node that gave it, "+…" for what was fused into it
  std::string kind;        // "cube", "vector", "layout" (only changes layout or type), "call" (CPU)
  double start_ns = 0;     // from the start of the run
  Estimate estimate;       // time_ns to its end, dispatch included
  double utilisation = 0;  // of the device's peak multiply-adds, padding not counted, 0 to 1
  double bound_ns = 0;     // roofline: the longer of its multiply-adds at peak and its compulsory
                           // DRAM bytes at full bandwidth
};

// A stretch of work on one track, for timelines and traces. Tracks are "core0/cube", "dram", "cpu".
struct Span {
  std::string track;
  std::string name;
  double start_ns = 0;
  double duration_ns = 0;
  std::uint32_t task = 0;  // index into Account::tasks
};

struct Account {
  Estimate total;  // its fixed cost and boundaries included: time_ns may exceed the sum of tasks
  double fixed_ns = 0;     // per call
  double boundary_ns = 0;  // handing over inputs and outputs
  std::vector<TaskAccount> tasks;
  std::vector<Span> spans;  // bounded: long loops are cut after kMaxSpans, `spans_left_out` says so
  std::uint64_t spans_left_out = 0;
};
inline constexpr std::size_t kMaxSpans = 200000;

}  // namespace npukit::target
