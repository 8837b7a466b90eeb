// One segment through its device, its blob and weights handed to the writer. Inside emit.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "compile/lowering.h"
#include "format/program.h"
#include "format/writer.h"
#include "ir/graph.h"
#include "target/profile.h"

namespace npukit::compile {

// `number` is for the message.
Result<format::ExecutableInfo> LowerSegment(const ir::Graph& g, const Lowering& device,
                                            const target::Profile& profile,
                                            const LowerOptions& options,
                                            format::PackageWriter& writer, std::size_t number);

// "NPU,CPU": the classes used, the most wanted first.
std::string DevicesKey(const std::vector<std::string>& used);

}  // namespace npukit::compile
