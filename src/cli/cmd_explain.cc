#include <array>

#include "cli/command.h"
#include "report/print.h"

namespace npukit::cli {
namespace {

constexpr std::array kFlags = {Flag::kModel, Flag::kDevice, Flag::kTarget,
                               Flag::kSet,   Flag::kShape,  Flag::kStrictNpu,
                               Flag::kAllow, Flag::kReport, Flag::kTrace};

int Explain(const Options& o, Context& context) {
  const auto options = context.ModelOptionsOf();
  if (!options.ok()) return context.Fail(options.status());
  if (const std::string spec = options->device.ToString(); spec.find("NPU") == std::string::npos) {
    return context.Fail(
        InvalidArgument("-d " + o.device + ": explain is about an NPU; leave -d out, or say NPU"));
  }
  lab::ExplainOptions explain;
  explain.spans = context.wants_spans();
  const auto record = lab::ExplainModel(context.kit(), *options, explain);
  if (!record.ok()) return context.Fail(record.status());
  return context.PrintStrict(*record);
}

}  // namespace

constinit const Command command::explain = {
    .name = "explain",
    .summary =
        "Why is it not faster: the time on the NPU split into causes, what-if lines, and whether "
        "to adopt the NPU.",
    .details =
        "Explained is the program that run would take; -d NPU: whatever the NPU can run goes "
        "there, even at a loss.\n"
        "Causes are taken away one after the other, each with those before it already free, so "
        "they and what is left\n"
        "(hardware_bound) add up to the total; the what-if lines take each away alone. All times "
        "are modelled.\n"
        "A package is priced as it was compiled, on its own profile changed by --set; a model is "
        "compiled again, also\n"
        "for what-if lines of limits that keep operators off the NPU. Heat is judged by average "
        "power (energy over time).\n"
        "Assumed facts are each moved alone; listed is where an answer flips, and which never do. "
        "For limits of operators\n"
        "and sizes of buffers the model is compiled again; for all others placement stays.\n"
        "More: docs/explain.md. Exit status: 0 explained (operators on the CPU are no finding), 1 "
        "with --strict-npu when an\n"
        "operator falls off the NPU, 2 bad input or usage, 3 failure after work began.",
    .flags = kFlags,
    .run = Explain,
};

}  // namespace npukit::cli
