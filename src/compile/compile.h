// A graph and a profile become a package. Devices come in as Lowerings; nothing here knows one by
// name.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/env.h"
#include "base/status.h"
#include "compile/lowering.h"
#include "format/program.h"
#include "format/writer.h"
#include "ir/graph.h"
#include "passes/pass.h"
#include "target/profile.h"
#include "target/verdict.h"

namespace npukit::compile {

struct CompileOptions {
  // One entry per program wanted: input name -> dims. Empty: the model's own static shapes.
  std::vector<std::map<std::string, tensor::Dims>> shapes;
  bool cpu_only_program = true;  // --no-cpu clears it
  bool npu = true;               // false: CPU only (target host, -d CPU)
  bool cost_decides = true;  // false (-d NPU): whatever the NPU can run goes there, even at a loss
  bool strict_npu = false;   // fail when an operator falls off
  std::vector<std::string> allow;  // operators that may, under strict_npu
  std::vector<std::string> skip_passes;
  std::string tool_version;
  std::function<void(std::string_view what, int done, int total)> progress;
};

struct CompileResult {
  format::Head head;
  format::PackageWriter writer;  // holds the bytes: ToFile(head, ...) or ToBytes(head)
  std::vector<passes::PassReport> passes;
  std::vector<std::string> warnings;
};

// import -> passes -> ask the devices -> partition by verdict and cost -> lower -> plan memory ->
// pack. `model` is as imported (dynamic shapes allowed when options.shapes fixes them).
Result<CompileResult> Compile(const ir::Graph& model, const target::Profile& profile,
                              const LoweringList& devices, const CompileOptions& options);

// The asking and placing alone: what `check` prints. On a graph whose shapes are still open,
// verdicts say so.
struct CheckResult {
  // One per node of the final graph, source names inside; then those of the nodes in bodies.
  std::vector<target::Verdict> verdicts;
  format::ComputeUnits compute_units;
  std::vector<passes::PassReport> passes;
  std::uint64_t weight_bytes = 0;  // of the final graph's constants
};
Result<CheckResult> Check(const ir::Graph& model, const target::Profile& profile,
                          const LoweringList& devices, const CompileOptions& options);

// Did an operator of the imported model that computes land off the NPU? Nodes that only read shapes
// do not count, nor layout changes that we added, nor operators in `allow`. Null when all is well.
const target::Verdict* FirstOffNpu(const std::vector<target::Verdict>& verdicts,
                                   const std::vector<std::string>& allow);

// What to pass as --shape for the graph's open inputs, "--shape x=1x3x736x736"; "" when every input
// is static.
std::string ShapeRemedy(const ir::Graph& g);

}  // namespace npukit::compile
