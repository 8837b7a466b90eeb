#pragma once
// The command line of npukit-ocr.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "result.h"

namespace ocr {

struct Options {
  std::string det, cls, rec;  // packages; empty under --replay
  std::string keys;           // the recogniser's alphabet
  std::string device = "AUTO:NPU,CPU";
  int threads = 0;  // 0: the runtime's choice
  bool json = false;
  bool help = false;
  std::string output;         // file for the JSON, empty: none
  std::string dump;           // folder, empty: none
  std::string report_folder;  // of ocr.html, empty: none
  std::string replay;         // folder, empty: none
  std::vector<std::string> photos;
};

std::string_view HelpText();

// `arguments` without the program's name. Unknown, repeated, conflicting and missing flags are
// refused.
Result<Options> ParseOptions(std::span<const char* const> arguments);

}  // namespace ocr
