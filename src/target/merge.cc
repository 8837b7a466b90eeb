#include "target/merge.h"

#include <utility>

namespace npukit::target {

Merged Merge(const Profile& base, const Profile& update) {
  Merged out{base, {}};
  for (const auto& [key, fact] : update.facts) {
    const auto [it, is_new] = out.profile.facts.try_emplace(key, fact);
    if (is_new) continue;
    Fact& known = it->second;
    // Dates are YYYY-MM-DD: their order as text is their order in time.
    const bool wins =
        fact.source != known.source ? fact.source > known.source : fact.date >= known.date;
    if (wins) {
      out.overridden.push_back({key, fact, std::exchange(known, fact)});
    } else {
      out.overridden.push_back({key, known, fact});
    }
  }
  return out;
}

}  // namespace npukit::target
