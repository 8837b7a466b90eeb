// A device's conformance.txt (README.md): what it cannot do, what it does not do yet, and why.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace npukit::conformance {

struct Expectation {
  bool xfail = false;   // else unsupported
  std::string pattern;  // "OpsTest.conv2d_*"
  std::string code;     // of "OpsTest.conv2d_*@empty_value": only verdicts with this code; else ""
  std::string reason;
  int line = 0;
  bool needed = false;  // it made a difference
};

// The message names the line.
Result<std::vector<Expectation>> ParseExpectations(std::string_view text);
bool Matches(std::string_view pattern, std::string_view name);  // '*': any characters
// The first that fits the name and, where it has a code, the code; or null.
Expectation* Find(std::vector<Expectation>& list, std::string_view name,
                  std::string_view code = {});

}  // namespace npukit::conformance
