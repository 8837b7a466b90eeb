// This program again, in a process of its own: what it runs may crash or hang.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"

namespace npukit::lab {

struct ChildEnd {
  int exit_code = -1;      // -1: it did not exit by itself
  int signal = 0;          // that ended it; 0: none
  bool timed_out = false;  // and was ended for it
  std::string out, err;    // what it wrote, cut after kMaxChildOutput bytes each
};
inline constexpr std::size_t kMaxChildOutput = 65536;

// Runs this very program with `words` as its arguments; nothing on its standard input. May be
// called from any thread. kIo: no process to be had.
Result<ChildEnd> RunSelf(const std::vector<std::string>& words, std::int64_t timeout_ms);

// For the child: memory it may ask for, and no core file when it crashes. With a sanitizer, whose
// own memory counts, there is no limit.
void LimitMemory(std::uint64_t bytes);

}  // namespace npukit::lab
