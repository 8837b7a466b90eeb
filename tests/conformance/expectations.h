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
  std::string reason;
  int line = 0;
  bool matched = false;  // a check's name fits
  bool needed = false;   // and the line made a difference
};

// The message names the line.
Result<std::vector<Expectation>> ParseExpectations(std::string_view text);
bool Matches(std::string_view pattern, std::string_view name);  // '*': any characters
Expectation* Find(std::vector<Expectation>& list, std::string_view name);  // the first that matches, or null

}  // namespace npukit::conformance
