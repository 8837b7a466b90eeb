#include "base/text.h"
#include "lab/describe.h"
#include "lab/verbs.h"

namespace npukit::lab {
namespace {

// HarmonyOS asks a service before it lets a larger model onto the NPU, and says nothing when
// refused (NNRT source, MODEL_MAX_LIMIT).
constexpr std::uint64_t kGateBytes = 200ull * 1024 * 1024;

// A package says what was decided when it was compiled.
Result<report::Check> CheckPackage(const Kit& kit, const ModelOptions& options) {
  NPUKIT_ASSIGN_OR_RETURN(const Model model, OpenModel(kit, options));
  const format::Head& head = model.package->head();
  if (head.programs.empty()) return DataCorrupt(options.path + ": a package without programs");
  const format::Program& program = head.programs[0];  // the best one of its shape
  report::Check r;
  r.model = options.path;
  r.target = TargetOf(head.profile);
  r.shapes = ShapesOf(head, program);
  r.verdicts = program.verdicts;
  r.compute_units = program.compute_units;
  for (const format::WeightInfo& w : head.weights) r.bytes += w.length;
  r.restored_bytes = r.bytes;
  r.gate_bytes = kGateBytes;
  return r;
}

}  // namespace

Result<report::Check> CheckModel(const Kit& kit, const ModelOptions& options) {
  NPUKIT_ASSIGN_OR_RETURN(const bool is_package, IsPackage(*kit.env, options.path));
  if (is_package) return CheckPackage(kit, options);
  NPUKIT_ASSIGN_OR_RETURN(const importers::Imported imported, ReadModel(kit, options.path));
  const target::Profile& profile =
      options.profile.name.empty() ? options.host_profile : options.profile;
  compile::CompileOptions o = OptionsFor(kit, options);
  o.cost_decides = true;
  const Result<compile::CheckResult> checked =
      compile::Check(imported.graph, profile, kit.lowerings, o);
  if (!checked.ok()) return checked.status().WithContext(Printable(options.path, 300));
  const compile::CheckResult& result = *checked;
  report::Check r;
  r.model = options.path;
  r.target = TargetOf(profile);
  if (!options.shapes.empty()) r.shapes.assign(options.shapes[0].begin(), options.shapes[0].end());
  r.verdicts = result.verdicts;
  r.compute_units = result.compute_units;
  r.bytes = result.weight_bytes;
  r.restored_bytes =
      result.weight_bytes;  // nothing is stored narrower than it is computed with yet
  r.gate_bytes = kGateBytes;
  return r;
}

}  // namespace npukit::lab
