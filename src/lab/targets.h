// Profiles by name: where they lie, loading one with its --set changes, listing them.
#pragma once

#include <string>
#include <vector>

#include "base/env.h"
#include "base/status.h"
#include "report/records.h"
#include "target/profile.h"

namespace npukit::lab {

// Beside the program (../profiles, ../../profiles, ../share/npukit/profiles), then where it was
// built from.
std::vector<std::string> ProfileFolders();

// A name or FILE.json, and "key=value" changes. kInvalidArgument: a bare number ("did you mean
// --threads?"), a bad --set. kNotFound lists the targets there are.
Result<target::Profile> LoadTarget(Env& env, const std::string& name_or_file,
                                   const std::vector<std::string>& set);

Result<report::Targets> ListTargets(Env& env);
// The target of a file when nobody names one: a package's own, for a model the host; --set changes
// it.
Result<target::Profile> DefaultTarget(Env& env, const std::string& path,
                                      const std::vector<std::string>& set);

report::TargetShow ShowTarget(const target::Profile& profile);

}  // namespace npukit::lab
