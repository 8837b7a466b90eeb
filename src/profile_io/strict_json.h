// JSON read without mercy: what files of this folder share. A key given twice, deep nesting,
// unknown or missing members and wrong kinds are errors in one line (kInvalidArgument).
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace npukit::profile_io {

// Text of at most kMaxFileBytes (profile_io.h) to a tree.
Result<nlohmann::json> ParseStrictly(std::string_view text);
std::string KindOf(const nlohmann::json& v);  // "a number", "an object": for messages
// The members of an object, exactly these.
Status CheckMembers(const nlohmann::json& object, const std::vector<std::string>& names);
// A member that is a text and not empty, or a real day written YYYY-MM-DD.
Result<std::string> TextMember(const nlohmann::json& object, const char* name);
Result<std::string> DateMember(const nlohmann::json& object, const char* name);

}  // namespace npukit::profile_io
