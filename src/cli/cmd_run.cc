#include <array>

#include "cli/command.h"
#include "report/print.h"

namespace npukit::cli {
namespace {

constexpr std::array kFlags = {
    Flag::kModel,         Flag::kDevice, Flag::kTarget,    Flag::kSet,       Flag::kShape,
    Flag::kInput,         Flag::kInputs, Flag::kOutputDir, Flag::kPrecision, Flag::kThreads,
    Flag::kMaxIterations, Flag::kSeed,   Flag::kStrictNpu, Flag::kAllow};

int Run(const Options&, Context& context) {
  const auto options = context.ModelOptionsOf();
  if (!options.ok()) return context.Fail(options.status());
  const auto run = context.RunOptionsOf();
  if (!run.ok()) return context.Fail(run.status());
  const auto record = lab::RunModel(context.kit(), *options, *run);
  if (!record.ok()) return context.Fail(record.status());
  return context.PrintStrict(*record);
}

}  // namespace

constinit const Command command::run = {
    .name = "run",
    .summary = "One inference, of a model (compiled in memory) or a package.",
    .details =
        "Inputs that are not given are random: floats in [-1, 1), int32 and int64 0 or 1, other "
        "integers in [0, 8), from --seed and the input's name.\n"
        "Exit status: 0 fine, 1 with --strict-npu when an operator falls off the NPU, 2 bad input "
        "or usage, 3 failure\n"
        "after work began.",
    .flags = kFlags,
    .run = Run,
};

}  // namespace npukit::cli
