// What the verbs do, apart from their words: each takes what it needs and gives the record that is
// printed. The command line and the language bindings are thin over these.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lab/inputs.h"
#include "lab/open.h"
#include "report/records.h"

namespace npukit::lab {

// check: `options.device` does not matter.
Result<report::Check> CheckModel(const Kit& kit, const ModelOptions& options);

struct CompileOptions {
  std::string output;
  bool cpu_only_program = true;
  bool npu = true;
};
Result<report::Compile> CompileModel(const Kit& kit, const ModelOptions& options,
                                     const CompileOptions& compile_options);

Result<report::Info> Describe(const Kit& kit, const std::string& path, bool verify);

struct RunOptions {
  InputOptions inputs;
  std::string output_folder;        // "": outputs are not written
  std::string precision;            // "": any
  int threads = 0;                  // 0: NPUKIT_THREADS, else the machine's cores
  std::int64_t max_iterations = 0;  // of a run's loops together; 0: the session's default
};
Result<report::Run> RunModel(const Kit& kit, const ModelOptions& options, const RunOptions& run);

struct ExplainOptions {
  bool spans = false;  // keep the timeline
};
// Device specs other than NPU (whatever the NPU can run goes there, even at a loss) mean the
// default: the program that run would choose.
Result<report::Explain> ExplainModel(const Kit& kit, ModelOptions options,
                                     const ExplainOptions& explain);

struct CompareOptions {
  std::string against;        // a folder of NAME.npy; "": computed here
  bool interpret = false;     // the reference: each operator's definition instead of the CPU device
  double min_cosine = 0.999;  // less is a finding
};
Result<report::Compare> CompareModel(const Kit& kit, const ModelOptions& options,
                                     const RunOptions& run, const CompareOptions& compare);

struct BenchOptions {
  std::string device;                // as asked, for the record
  double budget_ms = 1000;           // of what is reported
  std::uint64_t min_iterations = 0;  // 0: 5 on the real clock, 2 on a virtual one
  int concurrency = 1;
  bool steps =
      false;  // --ops: every segment; every task of a modelled run, the CPU's of a measured
  bool spans = false;  // keep the timeline of a modelled run
};
Result<report::Bench> BenchModel(const Kit& kit, const ModelOptions& options, const RunOptions& run,
                                 const BenchOptions& bench);

}  // namespace npukit::lab
