// Which names of other formats the importers take: for docs and messages, from the tables that
// decide.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace npukit::importers {

struct OnnxName {
  std::string_view name;   // "Conv", "com.microsoft:FusedMatMul"
  bool composite = false;  // becomes several operators of ours, or one in another form
  std::string_view ours;   // the operator of the same meaning; "" when there is none
  // Files below these opsets meant something else by it; they are brought up to date, oldest first.
  std::vector<std::int64_t> upgraded_below;
};

std::vector<OnnxName> OnnxNames();  // sorted by name

}  // namespace npukit::importers
