#include "lab/describe.h"
#include "lab/verbs.h"

namespace npukit::lab {
namespace {

Result<report::Info> DescribeModel(const Kit& kit, const std::string& path) {
  NPUKIT_ASSIGN_OR_RETURN(const importers::Imported imported,
                          ReadModel(kit, path, /*structure_only=*/true));
  const ir::Graph& g = imported.graph;
  report::Info r;
  r.file = path;
  r.format = imported.format;
  r.bytes = imported.file_bytes;
  r.name = g.name;
  r.sha256 = imported.sha256;
  for (ir::ValueId v : g.inputs) r.inputs.push_back({g.value(v).name, g.value(v).type});
  for (ir::ValueId v : g.outputs) r.outputs.push_back({g.value(v).name, g.value(v).type});
  for (const ir::SourceNode& n : g.source_nodes) ++r.ops[n.op];
  r.nodes = g.source_nodes.size();
  for (const ir::ValueInfo& v : g.values) {
    if (v.constant) r.weights_bytes += v.constant->byte_size();
  }
  r.metadata = g.metadata;
  return r;
}

Result<report::Info> DescribePackage(const Kit& kit, const std::string& path, bool verify) {
  NPUKIT_ASSIGN_OR_RETURN(const std::shared_ptr<const format::Package> package,
                          format::Package::Open(*kit.env, path));
  const format::Head& head = package->head();
  report::Info r;
  r.file = path;
  r.format = "npk";
  r.bytes = package->file_bytes();
  r.name = head.model_name;
  r.sha256 = head.model_sha256;
  r.inputs = head.inputs;
  r.outputs = head.outputs;
  r.metadata = head.metadata;
  r.tool_version = head.tool_version;
  r.target = TargetOf(head.profile);
  r.schema_version = format::kSchemaVersion;
  r.programs = DescribeAll(head);
  const WeightBytes weights = CountWeights(head);
  r.shared_bytes = weights.shared;
  r.own_bytes = weights.own;
  r.weights_bytes = weights.shared + weights.own;
  r.segments = head.segments.size();
  if (verify) {
    NPUKIT_RETURN_IF_ERROR(package
                               ->VerifySegments([&](int done, int total) {
                                 if (kit.progress) kit.progress("verifying segments", done, total);
                               })
                               .WithContext(path));
    r.verified = true;
  }
  return r;
}

}  // namespace

Result<report::Info> Describe(const Kit& kit, const std::string& path, bool verify) {
  NPUKIT_ASSIGN_OR_RETURN(const bool is_package, IsPackage(*kit.env, path));
  if (is_package) return DescribePackage(kit, path, verify);
  if (verify)
    return InvalidArgument("--verify: checks the segments of a package, and this is a model");
  return DescribeModel(kit, path);
}

}  // namespace npukit::lab
