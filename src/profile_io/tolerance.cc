#include "profile_io/tolerance.h"

#include <cmath>

#include "base/text.h"
#include "profile_io/strict_json.h"

namespace npukit::profile_io {

Result<CaseTolerance> CaseToleranceFromJson(std::string_view text) {
  NPUKIT_ASSIGN_OR_RETURN(const nlohmann::json json, ParseStrictly(text));
  if (!json.is_object()) return InvalidArgument(Cat("expected an object, found ", KindOf(json)));
  CaseTolerance t;
  for (const auto& [name, to] : {std::pair{"rtol", &t.rtol}, std::pair{"atol", &t.atol}}) {
    const auto at = json.find(name);
    if (at == json.end()) continue;
    const double value = at->is_number() ? at->get<double>() : -1;
    if (!std::isfinite(value) || value < 0)
      return InvalidArgument(Cat(name, ": expected a number that is not negative"));
    *to = value;
  }
  return t;
}

}  // namespace npukit::profile_io
