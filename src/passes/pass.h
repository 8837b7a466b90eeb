// A graph becomes a better graph. Each pass is one file and one line in passes.inc, whose order is
// the order of running; after each the verifier runs. A pass computes the same values within its
// stated agreement (tests/passes/<pass>.case).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "ir/graph.h"
#include "target/profile.h"

namespace npukit::passes {

struct PassDef {
  std::string_view name;  // a verb: "fold_constants"
  std::string_view summary;
  Status (*run)(ir::Graph& g, const target::Profile& profile, int* changes);
  bool in_bodies = false;  // runs in the bodies of control flow too
};

std::vector<PassDef> AllPasses();  // in order

// One pass, in bodies too where it says so.
Status RunPass(const PassDef& p, ir::Graph& g, const target::Profile& profile, int* changes);

struct PassReport {
  std::string name;
  int changes = 0;
  double seconds = 0;
};

struct RunOptions {
  std::vector<std::string> skip;  // names; unknown ones are refused
};

Status RunPasses(ir::Graph& g, const target::Profile& profile, const RunOptions& options,
                 std::vector<PassReport>* report);

}  // namespace npukit::passes
