// The command line read: the only user of CLI11, which costs seconds per file that includes it.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "cli/command.h"
#include "cli/options.h"

namespace npukit::cli {

struct Parsed {
  bool help = false;  // --help was given: print HelpText
  Options options;
};

// `words` follow the verb. kInvalidArgument: an unknown or conflicting flag, a value out of range;
// one line.
Result<Parsed> Parse(const Command& command, std::span<const char* const> words);

std::string HelpText(const Command& command);

}  // namespace npukit::cli
