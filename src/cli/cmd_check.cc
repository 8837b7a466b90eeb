#include <array>

#include "cli/command.h"
#include "compile/compile.h"
#include "report/print.h"

namespace npukit::cli {
namespace {

constexpr std::array kFlags = {Flag::kModel,     Flag::kTarget, Flag::kSet,   Flag::kShape,
                               Flag::kStrictNpu, Flag::kAllow,  Flag::kReport};

int Check(const Options&, Context& context) {
  auto options = context.ModelOptionsOf();
  if (!options.ok()) return context.Fail(options.status());
  const std::vector<std::string> allow = options->allow;
  const auto record = lab::CheckModel(context.kit(), *options);
  if (!record.ok()) return context.Fail(record.status());
  return context.Print(
      *record, compile::FirstOffNpu(record->verdicts, allow) != nullptr ? kFindings : kFine);
}

}  // namespace

constinit const Command command::check = {
    .name = "check",
    .summary =
        "Can this model run on the NPU of a target: a verdict per operator, with reason and "
        "remedy.",
    .details =
        "Exit status: 0 everything that computes runs on the NPU, 1 something falls off (operators "
        "in --allow do not\n"
        "count, nor do nodes that only read shapes), 2 bad input or usage, 3 failure after work "
        "began.\n"
        "Reasons: docs/reasons.md.",
    .flags = kFlags,
    .run = Check,
};

}  // namespace npukit::cli
