// What every JSON record begins and ends with. Inside report only.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "report/print.h"

namespace npukit::report {

using Json = nlohmann::ordered_json;

inline constexpr int kSchemaVersion = 1;

// An object with schema_version and tool, as every record starts.
inline Json Start() {
  const Tool& tool = ThisTool();
  return {{"schema_version", kSchemaVersion},
          {"tool", {{"name", tool.name}, {"version", tool.version}, {"git", tool.git}}}};
}

inline std::string Finish(const Json& j) {
  return j.dump(2, ' ', false, Json::error_handler_t::replace);
}

Json RooflineJson(const Roofline& r);

inline void AddTarget(Json& j, const Target& t) {
  j["target"] = t.name;
  j["set"] = t.set;
}

}  // namespace npukit::report
