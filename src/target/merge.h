// Two profiles of one chip become one: for each key the better known fact stays, and what it beat
// is kept for explain.
#pragma once

#include <vector>

#include "target/profile.h"

namespace npukit::target {

struct Overridden {
  std::string key;
  Fact kept;
  Fact beaten;
};

struct Merged {
  Profile profile;                     // name and overrides of `base`
  std::vector<Overridden> overridden;  // by key; only where both profiles know the key
};

// The stronger source wins (measured, vendor_api, datasheet, assumed); of equal sources the later
// date; of equal dates `update`. Pure.
Merged Merge(const Profile& base, const Profile& update);

}  // namespace npukit::target
