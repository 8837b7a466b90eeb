// A verb of the command line: name, words of help, flags, and what it does. One per cmd_<verb>.cc,
// one line in commands.inc.
#pragma once

#include <span>
#include <string_view>

#include "cli/context.h"
#include "cli/options.h"

namespace npukit::cli {

struct Command {
  std::string_view name;
  std::string_view summary;  // one line
  std::string_view details;  // of `npukit help VERB`
  std::span<const Flag> flags;
  int (*run)(const Options& options, Context& context);  // an exit code
};

std::span<const Command* const> Commands();
const Command* FindCommand(std::string_view name);

}  // namespace npukit::cli

namespace npukit::cli::command {
#define COMMAND(name) extern const ::npukit::cli::Command name;
#include "cli/commands.inc"
#undef COMMAND
}  // namespace npukit::cli::command
