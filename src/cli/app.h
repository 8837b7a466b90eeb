// The whole program but main().
#pragma once

#include <span>

namespace npukit::cli {

// `words` without the program's name. Gives the exit code.
int Main(std::span<const char* const> words);

}  // namespace npukit::cli
