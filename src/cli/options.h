// What was written on the command line, as plain values: parse.cc fills it, the verbs read it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace npukit::cli {

// Flags a verb may list; --json, -v, -q and --help every verb has.
enum class Flag : std::uint8_t {
  kModel,          // MODEL or -m MODEL
  kFile,           // FILE: a model or a package
  kWords,          // free words: targets show T
  kTable,          // TABLE: a table of published times
  kData,           // --data
  kTarget,         // -t
  kSet,            // --set
  kDevice,         // -d
  kOutput,         // -o
  kShape,          // --shape
  kInput,          // --input
  kInputs,         // --inputs
  kOutputDir,      // --output-dir
  kPrecision,      // --precision
  kThreads,        // --threads
  kMaxIterations,  // --max-iterations
  kSeed,           // --seed
  kStrictNpu,      // --strict-npu
  kAllow,          // --allow
  kNoCpu,          // --no-cpu
  kVerify,         // --verify
  kOps,            // --ops
  kConcurrency,    // --concurrency
  kBudget,         // --budget-ms
  kIterations,     // --iterations
  kAgainst,        // --against
  kMinCosine,      // --min-cosine
  kInterpret,      // --interpret
  kReport,         // --report-folder
  kTrace,          // --trace
  kSuite,          // SUITE: a kind of published operator tests
  kCases,          // --data of those
  kOnly,           // --only
  kJobs,           // --jobs
  kTimeout,        // --timeout
  kExpect,         // --expect
  kWorker,         // --worker, hidden: the process for one case
};

struct Options {
  std::vector<std::string> models;  // MODEL, FILE
  std::vector<std::string> words;
  std::string target;
  std::vector<std::string> set;
  std::string device = "AUTO:NPU,CPU";
  std::string output;
  std::vector<std::string> shapes;
  std::vector<std::string> inputs;
  std::string input_folder;
  std::string output_folder;
  std::string data_folder;
  std::string precision;
  int threads = 0;
  std::int64_t max_iterations = 0;
  std::uint64_t seed = 0;
  bool strict_npu = false;
  std::string allow;
  bool no_cpu = false;
  bool verify = false;
  bool ops = false;
  int concurrency = 1;
  double budget_ms = 1000;
  std::uint64_t iterations = 0;
  std::string against;
  double min_cosine = 0.999;
  bool interpret = false;
  std::string report_folder;
  std::string trace;
  std::string only;
  int jobs = 0;
  double timeout_s = 60;
  std::string expect;
  std::string worker;
  bool json = false;
  bool verbose = false;
  bool quiet = false;
};

}  // namespace npukit::cli
