#include "cli/parse.h"

#include <CLI/CLI.hpp>

#include "base/text.h"

namespace npukit::cli {
namespace {

constexpr int kMaxThreads = 1024;

// CLI11's ranges let NaN pass.
std::string NotNan(const std::string& value) {
  const std::string low = value.substr(0, 4);
  return low.find("nan") != std::string::npos || low.find("NaN") != std::string::npos ||
                 low.find("NAN") != std::string::npos
             ? "expected a number"
             : "";
}
std::string NotEmpty(const std::string& value) { return value.empty() ? "the name is empty" : ""; }

void AddFlag(CLI::App& app, Flag flag, Options& o) {
  const auto many = [&](const char* names, std::vector<std::string>& values, const char* text,
                        const char* kind) {
    app.add_option(names, values, text)
        ->type_name(kind)
        ->allow_extra_args(false)
        ->expected(1)
        ->take_all();
  };
  switch (flag) {
    case Flag::kModel:
      app.add_option("MODEL,-m,--model", o.models, "a model (ONNX) or a package (.npk)")
          ->type_name("FILE")
          ->required();
      return;
    case Flag::kFile:
      app.add_option("FILE", o.models, "a model (ONNX) or a package (.npk)")->required();
      return;
    case Flag::kWords:
      app.add_option("WORDS", o.words, "\"show T\": every fact of target T")->type_name("TEXT");
      return;
    case Flag::kTable:
      app.add_option("TABLE", o.words, "a table of published times: ascend310")
          ->type_name("NAME")
          ->expected(1)
          ->required();
      return;
    case Flag::kData:
      app.add_option("--data", o.data_folder, "the folder with table.json and the models")
          ->check(NotEmpty)
          ->type_name("FOLDER")
          ->required();
      return;
    case Flag::kTarget:
      app.add_option("-t,--target", o.target,
                     "the chip: a name (npukit targets) or FILE.json; default: the package's own, "
                     "else host, which has no NPU")
          ->type_name("NAME");
      return;
    case Flag::kSet:
      many("--set", o.set, "fact=value: changes a fact of the target; repeatable; recorded",
           "TEXT");
      return;
    case Flag::kDevice:
      app.add_option("-d,--device", o.device,
                     "NPU or CPU alone, AUTO:NPU,CPU (default) for the best there is, "
                     "HETERO:NPU,CPU for parts on both")
          ->type_name("DEVICE");
      return;
    case Flag::kOutput:
      app.add_option("-o,--output", o.output, "the file to write")->type_name("FILE")->required();
      return;
    case Flag::kShape:
      many("--shape", o.shapes,
           "NAME=1x3x224x224: fixes an input's shape; twice for one input: two programs", "TEXT");
      return;
    case Flag::kInput:
      many("--input", o.inputs, "NAME=FILE.npy: an input's values; repeatable; others are random",
           "TEXT");
      return;
    case Flag::kInputs:
      app.add_option("--inputs", o.input_folder, "a folder of NAME.npy (\"/\" in names is \"_\")")
          ->type_name("FOLDER");
      return;
    case Flag::kOutputDir:
      app.add_option("--output-dir", o.output_folder, "where outputs are left as NAME.npy")
          ->type_name("FOLDER");
      return;
    case Flag::kPrecision:
      app.add_option("--precision", o.precision, "take a program of this precision: fp32 or fp16")
          ->check(CLI::IsMember({"fp32", "fp16"}))
          ->type_name("NAME");
      return;
    case Flag::kThreads:
      app.add_option("--threads", o.threads,
                     "threads of the CPU; default: NPUKIT_THREADS, else the machine's cores")
          ->check(CLI::Range(1, kMaxThreads))
          ->type_name("N");
      return;
    case Flag::kMaxIterations:
      app.add_option("--max-iterations", o.max_iterations,
                     "of all loops of a run together; default 400000: an endless loop is an error")
          ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 62))
          ->type_name("N");
      return;
    case Flag::kSeed:
      app.add_option("--seed", o.seed, "of random inputs; default 0")->type_name("N");
      return;
    case Flag::kStrictNpu:
      app.add_flag("--strict-npu", o.strict_npu, "exit 1 when an operator falls off the NPU");
      return;
    case Flag::kAllow:
      app.add_option("--allow", o.allow,
                     "operators that may fall off the NPU all the same: softmax,concat")
          ->type_name("LIST");
      return;
    case Flag::kNoCpu:
      app.add_flag("--no-cpu", o.no_cpu, "leave the CPU-only program out");
      return;
    case Flag::kVerify:
      app.add_flag("--verify", o.verify, "check every segment of a package against its checksum");
      return;
    case Flag::kOps:
      app.add_flag("--ops", o.ops, "time per segment; of a modelled run per task too");
      return;
    case Flag::kConcurrency:
      app.add_option("--concurrency", o.concurrency, "requests in flight; default 1")
          ->check(CLI::Range(1, 256))
          ->type_name("N");
      return;
    case Flag::kBudget:
      app.add_option("--budget-ms", o.budget_ms,
                     "measure at least this long after the warm-up; default 1000")
          ->check(CLI::Range(0.0, 3.6e6))
          ->check(NotNan)
          ->type_name("MS");
      return;
    case Flag::kAgainst:
      app.add_option("--against", o.against,
                     "a folder of NAME.npy with the values of outputs and layers to compare with")
          ->check(NotEmpty)
          ->type_name("FOLDER");
      return;
    case Flag::kMinCosine:
      app.add_option("--min-cosine", o.min_cosine,
                     "an output whose cosine is less is a finding; default 0.999")
          ->check(CLI::Range(-1.0, 1.0))
          ->check(NotNan)
          ->type_name("X");
      return;
    case Flag::kInterpret:
      app.add_flag("--interpret", o.interpret,
                   "the reference is each operator's own definition, slow and sure");
      return;
    case Flag::kIterations:
      app.add_option("--iterations", o.iterations,
                     "measure at least this many; default 5, by a model's clock 2")
          ->check(CLI::Range(1, 1'000'000))
          ->type_name("N");
      return;
    case Flag::kReport:
      app.add_option("--report-folder", o.report_folder,
                     "also write FOLDER/VERB_MODEL.html: one page that needs no network")
          ->check(NotEmpty)
          ->type_name("FOLDER");
      return;
    case Flag::kTrace:
      app.add_option("--trace", o.trace,
                     "also write the modelled run as a trace, for ui.perfetto.dev or "
                     "chrome://tracing")
          ->check(NotEmpty)
          ->type_name("FILE");
      return;
    case Flag::kSuite:
      app.add_option("SUITE", o.words, "the kind of tests: onnx")
          ->check(CLI::IsMember({"onnx"}))
          ->type_name("NAME")
          ->expected(1)
          ->required();
      return;
    case Flag::kCases:
      app.add_option("--data", o.data_folder, "the folder of the cases")
          ->check(NotEmpty)
          ->type_name("FOLDER")
          ->required();
      return;
    case Flag::kOnly:
      app.add_option("--only", o.only, "only cases of this name, which may hold * and ?")
          ->check(NotEmpty)
          ->type_name("GLOB");
      return;
    case Flag::kJobs:
      app.add_option("--jobs", o.jobs, "cases at a time; default: the machine's cores")
          ->check(CLI::Range(1, 256))
          ->type_name("N");
      return;
    case Flag::kTimeout:
      app.add_option("--timeout", o.timeout_s,
                     "seconds after which a case counts as hung; default 60")
          ->check(CLI::Range(0.01, 86400.0))
          ->check(NotNan)
          ->type_name("S");
      return;
    case Flag::kExpect:
      app.add_option("--expect", o.expect,
                     "a file of the cases that do not pass, each with its reason: any other result "
                     "is a finding")
          ->check(NotEmpty)
          ->type_name("FILE");
      return;
    case Flag::kWorker:
      app.add_option("--worker", o.worker)->group("");
      return;
  }
}

void Build(CLI::App& app, const Command& command, Options& o) {
  app.name("npukit " + std::string(command.name));
  app.description(std::string(command.summary));
  app.footer(std::string(command.details));
  for (Flag f : command.flags) AddFlag(app, f, o);
  app.add_flag("--json", o.json, "one JSON object on standard output");
  CLI::Option* verbose =
      app.add_flag("-v,--verbose", o.verbose, "say every step on standard error");
  app.add_flag("-q,--quiet", o.quiet, "no progress, no warnings")->excludes(verbose);
}

std::string OneLine(std::string text) {
  for (char& c : text) {
    if (c == '\n') c = ' ';
  }
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

}  // namespace

Result<Parsed> Parse(const Command& command, std::span<const char* const> words) {
  Parsed parsed;
  CLI::App app;
  Build(app, command, parsed.options);
  std::vector<std::string> reversed;  // as CLI11 wants them
  for (std::size_t i = words.size(); i-- > 0;) reversed.emplace_back(words[i]);
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::CallForHelp&) {
    parsed.help = true;
  } catch (const CLI::ParseError& e) {
    return InvalidArgument(
        Cat(Printable(OneLine(e.what()), 1000), "; see npukit help ", command.name));
  }
  return parsed;
}

std::string HelpText(const Command& command) {
  Options o;
  CLI::App app;
  Build(app, command, o);
  return app.help();
}

}  // namespace npukit::cli
