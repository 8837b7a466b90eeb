#include <array>

#include "cli/command.h"
#include "report/print.h"

namespace npukit::cli {
namespace {

constexpr std::array kFlags = {Flag::kModel,     Flag::kDevice,    Flag::kTarget,    Flag::kSet,
                               Flag::kShape,     Flag::kInput,     Flag::kInputs,    Flag::kAgainst,
                               Flag::kMinCosine, Flag::kInterpret, Flag::kPrecision, Flag::kThreads,
                               Flag::kSeed,      Flag::kStrictNpu, Flag::kAllow,     Flag::kReport};

int Compare(const Options& o, Context& context) {
  const auto options = context.ModelOptionsOf();
  if (!options.ok()) return context.Fail(options.status());
  const auto run = context.RunOptionsOf();
  if (!run.ok()) return context.Fail(run.status());
  lab::CompareOptions compare;
  compare.against = o.against;
  compare.interpret = o.interpret;
  compare.min_cosine = o.min_cosine;
  const auto record = lab::CompareModel(context.kit(), *options, *run, compare);
  if (!record.ok()) return context.Fail(record.status());
  if (!record->within()) return context.Print(*record, kFindings);
  return context.PrintStrict(*record);
}

}  // namespace

constinit const Command command::compare = {
    .name = "compare",
    .summary =
        "How exact are the results: per output and layer, against fp32 or against values from a "
        "folder.",
    .details =
        "Runs the program that npukit run would take, with the same inputs. Reference: the CPU in "
        "fp32; for a program that\n"
        "is on the CPU itself, or with --interpret, each operator's own definition, slowly; with "
        "--against, NAME.npy for\n"
        "outputs and any other values of the model (\"/\" in names is \"_\"), as another tool "
        "computed them.\n"
        "Entire: a layer's error from the network's input on. Single: this layer alone, fed with "
        "the reference's values, so\n"
        "its own error, the rounding of its inputs to the device's type included. First "
        "divergence: the first layer in order\n"
        "of running whose single or entire cosine is below --min-cosine (single is named when both "
        "are) or that has NaN or\n"
        "infinity where the reference has not. A package has no layers to look into.\n"
        "Exit status: 0 every output is within --min-cosine, 1 one is not (layers do not count), "
        "or "
        "with --strict-npu an\n"
        "operator is off the NPU, 2 bad input or usage, 3 failure after work began.",
    .flags = kFlags,
    .run = Compare,
};

}  // namespace npukit::cli
