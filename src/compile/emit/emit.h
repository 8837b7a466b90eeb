// A partition becomes a program: each segment is cut out as a graph of its own and lowered by its
// device, values between segments get a place in one arena, constants that are outputs become
// weights. Blobs and weights go to the writer.
#pragma once

#include "base/status.h"
#include "compile/lowering.h"
#include "compile/partition/partition.h"
#include "format/program.h"
#include "format/writer.h"
#include "ir/graph.h"
#include "target/profile.h"

namespace npukit::compile {

// Every shape in `g` is static. Errors name the segment's device and the node.
Result<format::Program> EmitProgram(const ir::Graph& g, const Partition& partition,
                                    const target::Profile& profile, const LoweringList& devices,
                                    const LowerOptions& options, format::PackageWriter& writer);

// Nodes of the imported graph, each where its result is computed: on the device of the last node it
// became part of, or folded when none is left. A node nobody can run counts in the total only.
format::ComputeUnits CountUnits(const ir::Graph& g, const std::vector<target::Verdict>& verdicts);

}  // namespace npukit::compile
