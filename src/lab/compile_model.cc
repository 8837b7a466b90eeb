#include <filesystem>
#include <set>
#include <system_error>

#include "base/text.h"
#include "lab/describe.h"
#include "lab/verbs.h"
#include "report/print.h"

namespace npukit::lab {

Result<report::Compile> CompileModel(const Kit& kit, const ModelOptions& options,
                                     const CompileOptions& compile_options) {
  const std::int64_t start = kit.env->NowNs();
  std::error_code unknown;  // an output that is not there yet is no file twice
  if (std::filesystem::equivalent(options.path, compile_options.output, unknown)) {
    return InvalidArgument(Cat("-o ", Printable(compile_options.output, 400),
                               ": that is the model itself; choose another file"));
  }
  NPUKIT_ASSIGN_OR_RETURN(const importers::Imported imported, ReadModel(kit, options.path));
  const target::Profile& profile =
      options.profile.name.empty() ? options.host_profile : options.profile;
  compile::CompileOptions o = OptionsFor(kit, options);
  o.npu = compile_options.npu;
  o.cost_decides = true;
  o.cpu_only_program = compile_options.cpu_only_program;
  Result<compile::CompileResult> compiled =
      compile::Compile(imported.graph, profile, kit.lowerings, o);
  if (!compiled.ok()) return compiled.status().WithContext(Printable(options.path, 300));
  compile::CompileResult& result = *compiled;
  result.head.model_sha256 = imported.sha256;
  if (kit.progress) kit.progress("packing", 0, 0);
  // Described as a reader sees it, so a package nobody could open is never written.
  NPUKIT_ASSIGN_OR_RETURN(const format::PackageWriter::Finished finished,
                          result.writer.Finish(result.head));
  const format::Head& head = finished.head;
  report::Compile r;
  if (options.strict_npu) {  // the first program of each shape is the best one
    std::set<std::string> seen;
    for (const format::Program& p : head.programs) {
      if (!seen.insert(report::ShapesText(ShapesOf(head, p))).second || !r.off_npu.empty())
        continue;
      r.off_npu = OffNpu(p, options.allow);
    }
  }
  if (r.off_npu.empty()) {
    NPUKIT_RETURN_IF_ERROR(
        result.writer.ToFile(std::move(result.head), *kit.env, compile_options.output));
  }
  r.model = options.path;
  r.target = TargetOf(profile);
  if (r.off_npu.empty()) r.output = compile_options.output;
  r.output_bytes = finished.file_bytes;
  r.programs = DescribeAll(head);
  const WeightBytes weights = CountWeights(head);
  r.shared_bytes = weights.shared;
  r.own_bytes = weights.own;
  for (const passes::PassReport& p : result.passes)
    r.passes.push_back({p.name, p.changes, p.seconds});
  r.warnings = result.warnings;
  r.seconds = static_cast<double>(kit.env->NowNs() - start) / 1e9;
  return r;
}

}  // namespace npukit::lab
