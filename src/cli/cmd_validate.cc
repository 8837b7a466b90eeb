#include <array>

#include "cli/command.h"
#include "lab/targets.h"
#include "lab/validate.h"

namespace npukit::cli {
namespace {

constexpr std::array kFlags = {Flag::kTable, Flag::kData, Flag::kSet};

int Validate(const Options& o, Context& context) {
  lab::ValidateOptions options;
  options.table = o.words[0];
  options.data_folder = o.data_folder;
  auto profile = lab::LoadTarget(*context.kit().env, options.table, o.set);
  if (!profile.ok()) return context.Fail(profile.status());
  options.profile = std::move(profile).value();
  const auto record = lab::Validate(context.kit(), options);
  if (!record.ok()) return context.Fail(record.status());
  return context.Print(*record, record->meets_goal() ? kFine : kFindings);
}

}  // namespace

constinit const Command command::validate = {
    .name = "validate",
    .summary =
        "Predicts published times of networks from facts of a chip: predicted, published, error.",
    .details =
        "TABLE is a target whose profile describes the published software too (npu.stack.*): "
        "ascend310. DIR holds\n"
        "table.json (the published times and their source) and the models; docs/validation.md "
        "says how they are made.\n"
        "Each network is predicted by parameters fitted on all others. --set changes a fact that "
        "is not fitted.\n"
        "Exit status: 0 the goal is met (mean error at most 12 %, worst at most 35 %), 1 it is "
        "missed, 2 bad input or\n"
        "usage, 3 failure after work began.",
    .flags = kFlags,
    .run = Validate,
};

}  // namespace npukit::cli
