#include <algorithm>
#include <chrono>

#include "base/kept_bytes.h"
#include "base/text.h"
#include "ir/control.h"
#include "ir/node.h"
#include "passes/list.h"

namespace npukit::passes {

std::vector<PassDef> AllPasses() {
  return {
#define PASS(name) pass::name,
#include "passes/passes.inc"
#undef PASS
  };
}

Status RunPass(const PassDef& p, ir::Graph& g, const target::Profile& profile, int* changes) {
  NPUKIT_RETURN_IF_ERROR(p.run(g, profile, changes));
  if (!p.in_bodies) return OkStatus();
  for (ir::Node& n : g.nodes) {
    if (n.is_foreign() || !n.op->control) continue;
    for (auto& [name, body] : n.bodies) {
      if (const Status s = RunPass(p, ir::OwnBody(body), profile, changes); !s.ok())
        return s.WithContext(Cat(ir::Describe(n), ": body ", name));
    }
  }
  return OkStatus();
}

Status RunPasses(ir::Graph& g, const target::Profile& profile, const RunOptions& options,
                 std::vector<PassReport>* report) {
  const std::vector<PassDef> all = AllPasses();
  for (const std::string& name : options.skip) {
    if (std::none_of(all.begin(), all.end(), [&](const PassDef& p) { return p.name == name; })) {
      std::vector<std::string> names;
      for (const PassDef& p : all) names.emplace_back(p.name);
      return InvalidArgument(
          Cat("no pass '", Printable(name), "' to skip; there are ", Join(names, ", ")));
    }
  }
  for (const PassDef& p : all) {
    if (std::find(options.skip.begin(), options.skip.end(), p.name) != options.skip.end()) continue;
    const auto start = std::chrono::steady_clock::now();
    int changes = 0;
    Status s = RunPass(p, g, profile, &changes);
    if (s.ok()) s = ir::InferTypes(g);
    if (s.ok()) s = ir::Verify(g);
    if (!s.ok()) return s.WithContext(Cat("pass ", p.name));
    DropAllPages();  // of weights that it read; the next one reads others
    if (report) {
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
      report->push_back(PassReport{std::string(p.name), changes, took.count()});
    }
  }
  return OkStatus();
}

}  // namespace npukit::passes
