#include <array>

#include "base/text.h"
#include "cli/command.h"
#include "lab/targets.h"
#include "report/print.h"

namespace npukit::cli {
namespace {

constexpr std::array kFlags = {Flag::kWords, Flag::kSet};

int Targets(const Options& o, Context& context) {
  Env& env = *context.kit().env;
  if (o.words.empty()) {
    if (!o.set.empty())
      return context.Fail(InvalidArgument("--set: changes one target; see npukit help targets"));
    const auto record = lab::ListTargets(env);
    if (!record.ok()) return context.Fail(record.status());
    return context.Print(*record, kFine);
  }
  if (o.words.size() != 2 || o.words[0] != "show") {
    return context.Fail(InvalidArgument(
        Cat("targets ", Printable(Join(o.words, " ")), ": expected nothing, or show TARGET")));
  }
  const auto profile = lab::LoadTarget(env, o.words[1], o.set);
  if (!profile.ok()) return context.Fail(profile.status());
  return context.Print(lab::ShowTarget(*profile), kFine);
}

}  // namespace

constinit const Command command::targets = {
    .name = "targets",
    .summary =
        "The targets there are; \"targets show T\": each fact of T with value, unit, kind, source "
        "and date.",
    .details =
        "Facts that nobody published are labelled assumed. Exit status: 0 fine, 2 bad input or "
        "usage.",
    .flags = kFlags,
    .run = Targets,
};

}  // namespace npukit::cli
