#include <array>

#include "cli/command.h"
#include "report/print.h"

namespace npukit::cli {
namespace {

constexpr std::array kFlags = {Flag::kModel, Flag::kTarget, Flag::kSet,       Flag::kOutput,
                               Flag::kShape, Flag::kNoCpu,  Flag::kStrictNpu, Flag::kAllow};

int Compile(const Options& o, Context& context) {
  const auto options = context.ModelOptionsOf();
  if (!options.ok()) return context.Fail(options.status());
  lab::CompileOptions compile;
  compile.output = o.output;
  compile.cpu_only_program = !o.no_cpu;
  const auto record = lab::CompileModel(context.kit(), *options, compile);
  if (!record.ok()) return context.Fail(record.status());
  return context.PrintStrict(*record);
}

}  // namespace

constinit const Command command::compile = {
    .name = "compile",
    .summary = "Import, rewrite, place, tile and pack a model for a target into one package.",
    .details =
        "One program per --shape and set of devices; a program for the CPU alone is always added, "
        "unless --no-cpu.\n"
        "Exit status: 0 written (operators on the CPU are no finding), 1 with --strict-npu when an "
        "operator falls off\n"
        "the NPU (nothing is written), 2 bad input or usage, 3 failure after work began.",
    .flags = kFlags,
    .run = Compile,
};

}  // namespace npukit::cli
