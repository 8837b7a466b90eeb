#include <array>

#include "cli/command.h"
#include "report/print.h"

namespace npukit::cli {
namespace {

constexpr std::array kFlags = {Flag::kFile, Flag::kVerify};

int Info(const Options& o, Context& context) {
  if (o.models.size() != 1)
    return context.Fail(InvalidArgument("one FILE at a time; see npukit help info"));
  const auto record = lab::Describe(context.kit(), o.models[0], o.verify);
  if (!record.ok()) return context.Fail(record.status());
  return context.Print(*record, kFine);
}

}  // namespace

constinit const Command command::info = {
    .name = "info",
    .summary =
        "What is in a model or a package: inputs, outputs, operators, sizes, programs, where it "
        "came from.",
    .details =
        "Weights of a package are not read unless --verify asks for it.\n"
        "Exit status: 0 fine, 2 bad input or usage (a wrong checksum too), 3 failure after work "
        "began.",
    .flags = kFlags,
    .run = Info,
};

}  // namespace npukit::cli
