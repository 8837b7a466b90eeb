#include <array>

#include "base/text.h"
#include "cli/command.h"
#include "lab/child.h"
#include "lab/conformance.h"
#include "lab/targets.h"

namespace npukit::cli {
namespace {

constexpr std::array kFlags = {Flag::kSuite,   Flag::kCases,     Flag::kDevice, Flag::kTarget,
                               Flag::kSet,     Flag::kInterpret, Flag::kOnly,   Flag::kJobs,
                               Flag::kTimeout, Flag::kExpect,    Flag::kWorker};

// Of the process for one case: more than the largest published case takes, less than a machine has.
constexpr std::uint64_t kMemory = std::uint64_t{8} << 30;

Result<lab::CaseOptions> CaseOptionsOf(const Options& o, const Context& context) {
  lab::CaseOptions c;
  c.interpret = o.interpret;
  NPUKIT_ASSIGN_OR_RETURN(c.model.device, runtime::DeviceSpec::Parse(o.device));
  Env& env = *context.kit().env;
  const std::string target = o.target.empty() ? "host" : o.target;
  NPUKIT_ASSIGN_OR_RETURN(c.model.profile, lab::LoadTarget(env, target, o.set));
  NPUKIT_ASSIGN_OR_RETURN(c.model.host_profile, lab::LoadTarget(env, "host", {}));
  return c;
}

std::vector<std::string> WorkerWords(const Options& o) {
  std::vector<std::string> words = {"conformance", o.words[0], "--data", o.data_folder,
                                    "-d",          o.device,   "-q"};
  if (o.interpret) words.emplace_back("--interpret");
  if (!o.target.empty()) words.insert(words.end(), {"-t", o.target});
  for (const std::string& s : o.set) words.insert(words.end(), {"--set", s});
  words.emplace_back("--worker");
  return words;
}

int Conformance(const Options& o, Context& context) {
  const auto case_options = CaseOptionsOf(o, context);
  if (!case_options.ok()) return context.Fail(case_options.status());
  if (!o.worker.empty()) {
    lab::LimitMemory(kMemory);
    const auto result = lab::RunCase(context.kit(), lab::CaseOfModel(o.worker), *case_options);
    Put(stdout, lab::WorkerLine(result));
    return kFine;
  }
  lab::ConformanceOptions options;
  options.data_folder = o.data_folder;
  options.only = o.only;
  options.expect = o.expect;
  options.jobs = o.jobs;
  options.timeout_s = o.timeout_s;
  options.worker = WorkerWords(o);
  auto record = lab::RunConformance(context.kit(), options);
  if (!record.ok()) return context.Fail(record.status());
  record->suite = o.words[0];
  record->device = o.interpret ? "reference interpreter" : o.device;
  record->target.name = case_options->model.profile.name;
  record->target.set = o.set;
  return context.Print(*record, record->is_as_expected() ? kFine : kFindings);
}

}  // namespace

constinit const Command command::conformance = {
    .name = "conformance",
    .summary = "Runs a folder of published operator tests, each in a process of its own.",
    .details =
        "SUITE is onnx: folders of model.onnx and test_data_set_*, at any depth; or NAME.onnx "
        "beside NAME_output_0.pb,\n"
        "with inputs arange(n)/n. rtol 1e-3 and atol 1e-5, unless data.json beside the model says "
        "otherwise; integers,\n"
        "strings, types and shapes must agree exactly. What a model draws at random is judged by "
        "type, shape and\n"
        "distribution. A case that crashes or does not end is counted, and the others run on.\n"
        "Exit status: 0 every case passed (with --expect: all is as the list says), 1 otherwise, "
        "2 bad input or usage,\n"
        "3 failure after work began.",
    .flags = kFlags,
    .run = Conformance,
};

}  // namespace npukit::cli
