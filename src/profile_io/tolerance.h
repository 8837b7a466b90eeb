// What the data.json beside a published operator test may say about it: {"rtol": 1e-3, "atol":
// 1e-7}; other members are somebody else's. kInvalidArgument: not such a file, in one line.
#pragma once

#include <optional>
#include <string_view>

#include "base/status.h"

namespace npukit::profile_io {

struct CaseTolerance {
  std::optional<double> rtol;
  std::optional<double> atol;
};
Result<CaseTolerance> CaseToleranceFromJson(std::string_view text);

}  // namespace npukit::profile_io
