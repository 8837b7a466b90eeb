#include <array>

#include "cli/command.h"
#include "report/print.h"

namespace npukit::cli {
namespace {

constexpr std::array kFlags = {
    Flag::kModel,         Flag::kDevice, Flag::kTarget,     Flag::kSet,       Flag::kShape,
    Flag::kInput,         Flag::kInputs, Flag::kOutputDir,  Flag::kPrecision, Flag::kThreads,
    Flag::kMaxIterations, Flag::kSeed,   Flag::kStrictNpu,  Flag::kAllow,     Flag::kOps,
    Flag::kConcurrency,   Flag::kBudget, Flag::kIterations, Flag::kReport,    Flag::kTrace};

int Bench(const Options& o, Context& context) {
  const auto options = context.ModelOptionsOf();
  if (!options.ok()) return context.Fail(options.status());
  const auto run = context.RunOptionsOf();
  if (!run.ok()) return context.Fail(run.status());
  lab::BenchOptions bench;
  bench.device = o.device;
  bench.budget_ms = o.budget_ms;
  bench.min_iterations = o.iterations;
  bench.concurrency = o.concurrency;
  bench.steps = o.ops || context.wants_spans();
  bench.spans = context.wants_spans();
  const auto record = lab::BenchModel(context.kit(), *options, *run, bench);
  if (!record.ok()) return context.Fail(record.status());
  return context.PrintStrict(*record);
}

}  // namespace

constinit const Command command::bench = {
    .name = "bench",
    .summary = "Latency, throughput, memory and energy of a model or a package.",
    .details =
        "One first inference, a warm-up of 200 ms, then at least --iterations and at least "
        "--budget-ms of them. For a\n"
        "simulated device latency and energy are modelled: no warm-up is needed and few iterations "
        "do; wall time is\n"
        "given beside them.\n"
        "On the real clock two inputs take turns, given or random and one varied, and timed is "
        "from the user's memory\n"
        "to the user's memory. Outputs written are of the first.\n"
        "--ops lists every segment and, by the devices' models, every task: time, share of the "
        "run, share of the peak\n"
        "multiply-adds (padding not counted), roofline, bytes through DRAM; of a measured run "
        "every step on the CPU, with\n"
        "its kernel, against what this machine reaches, measured too. npu_utilisation: "
        "multiply-adds done on the NPU\n"
        "over its peak rate times the run; npu_busy: share of the run in which a segment is on the "
        "NPU.\n"
        "Exit status: as npukit run.",
    .flags = kFlags,
    .run = Bench,
};

}  // namespace npukit::cli
