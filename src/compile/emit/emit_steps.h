// A graph that cannot be laid out before it runs becomes a program run step by step: control flow,
// strings and sequences, sizes that depend on data or are left open. Parts whose shapes are known
// may still be on the NPU, in bodies too.
#pragma once

#include "base/status.h"
#include "compile/lowering.h"
#include "compile/partition/partition.h"
#include "format/program.h"
#include "format/writer.h"
#include "ir/graph.h"
#include "target/profile.h"

namespace npukit::compile {

// Control flow, or a value that is no dense tensor of known size.
bool NeedsSteps(const ir::Graph& g);

// As EmitProgram; verdicts of nodes in bodies follow those of the graph's own. Places bodies
// itself, for `goal`.
Result<format::Program> EmitStepProgram(const ir::Graph& g, const Partition& partition,
                                        const target::Profile& profile, const LoweringList& devices,
                                        Goal goal, const LowerOptions& options,
                                        format::PackageWriter& writer);

}  // namespace npukit::compile
