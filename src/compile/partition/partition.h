// Which node runs where, and in which order: verdicts say what may run on the NPU, costs say what
// should.
//
// 1. Ask: a verdict per node, as the NPU gives it.
// 2. Cut: the cheapest division of the graph, with the cost of handing a value from one side to the
// other counted once per
//    value and direction: a minimum cut, exact for these costs.
// 3. Schedule: nodes of one device are gathered as long as any is ready, so segments follow each
// other without cycles.
// 4. Prune: an island on the NPU that does not earn its hand-overs and the start of a segment goes
// to the CPU, and its
//    verdict says so.
// 5. Refine: compared, as really lowered, with a few neighbours.
//
// Pure and deterministic. Time: a few walks over the graph, one maximum flow, at most nine
// lowerings.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "compile/lowering.h"
#include "ir/graph.h"
#include "target/profile.h"
#include "target/verdict.h"

namespace npukit::compile {

struct Segment {
  int device = 0;                    // index into the LoweringList
  std::vector<std::uint32_t> nodes;  // in an order of execution
};

struct Partition {
  std::vector<Segment> segments;  // in order of execution: a segment reads only earlier ones
  std::vector<target::Verdict> verdicts;  // one per node
};

enum class Goal : std::uint8_t {
  kFastest,    // cost decides
  kMostOnNpu,  // whatever the NPU can run goes there
  kCpuOnly,
};

// kUnsupported: a node no device can run (foreign). kInternal: no CPU among the devices.
Result<Partition> MakePartition(const ir::Graph& g, const target::Profile& profile,
                                const LoweringList& devices, Goal goal);

// The verdicts alone, also for graphs with foreign nodes or open shapes; placed as MakePartition
// would where it can.
Result<std::vector<target::Verdict>> AskAndPlace(const ir::Graph& g, const target::Profile& profile,
                                                 const LoweringList& devices, Goal goal);

// The device of a class ("NPU", "CPU"), -1 when there is none.
int FindDevice(const LoweringList& devices, std::string_view device_class);

}  // namespace npukit::compile
