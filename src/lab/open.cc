#include "lab/open.h"

#include <algorithm>

#include "base/text.h"
#include "lab/cache.h"

namespace npukit::lab {
namespace {

bool Wants(const runtime::DeviceSpec& spec, std::string_view device) {
  return std::find(spec.devices.begin(), spec.devices.end(), device) != spec.devices.end();
}

bool OnlyNpu(const runtime::DeviceSpec& spec) {
  return spec.devices.size() == 1 && spec.devices[0] == "NPU";
}

Result<Model> OpenPackage(const Kit& kit, const ModelOptions& options) {
  Model m;
  NPUKIT_ASSIGN_OR_RETURN(m.package, format::Package::Open(*kit.env, options.path));
  m.is_package = true;
  m.sha256 = m.package->head().model_sha256;
  const target::Profile& own = m.package->head().profile;
  if (!options.profile.name.empty() && options.profile.name != own.name) {
    return InvalidArgument(Cat(Printable(options.path, 400), ": compiled for target ",
                               Printable(own.name), ", not ", Printable(options.profile.name),
                               "; compile the model again with -t"));
  }
  m.profile = options.profile.name.empty() ? own : options.profile;
  return m;
}

Result<Model> CompileInMemory(const Kit& kit, const ModelOptions& options) {
  NPUKIT_ASSIGN_OR_RETURN(const importers::Imported imported, ReadModel(kit, options.path));
  const target::Profile& profile =
      options.profile.name.empty() ? options.host_profile : options.profile;
  if (OnlyNpu(options.device) && !profile.has_npu()) {
    return InvalidArgument(Cat("-d NPU: target ", Printable(profile.name),
                               " has no NPU; name a chip with -t (npukit targets "
                               "lists them)"));
  }
  const std::int64_t start = kit.env->NowNs();
  const compile::CompileOptions compile_options = OptionsFor(kit, options);
  Cache cache(*kit.env, CacheKey(imported, profile, compile_options));
  Model m;
  m.sha256 = imported.sha256;
  m.package = cache.Find(imported.sha256);
  m.from_cache = m.package != nullptr;
  if (!m.from_cache) {
    Result<compile::CompileResult> compiled =
        compile::Compile(imported.graph, profile, kit.lowerings, compile_options);
    if (!compiled.ok()) return compiled.status().WithContext(Printable(options.path, 300));
    compile::CompileResult& result = *compiled;
    result.head.model_sha256 = imported.sha256;
    auto bytes = std::make_shared<std::vector<std::byte>>();
    NPUKIT_ASSIGN_OR_RETURN(*bytes, result.writer.ToBytes(std::move(result.head)));
    if (const Status s = cache.Put(*bytes); !s.ok() && kit.note) kit.note(s.message());
    NPUKIT_ASSIGN_OR_RETURN(m.package, format::Package::FromBytes(*bytes, bytes));
    m.warnings = std::move(result.warnings);
  }
  m.profile = m.package->head().profile;
  m.compile_ms = static_cast<double>(kit.env->NowNs() - start) / 1e6;
  return m;
}

}  // namespace

Result<bool> IsPackage(Env& env, const std::string& path) {
  NPUKIT_ASSIGN_OR_RETURN(const std::shared_ptr<MappedFile> file, env.MapFile(path));
  return format::LooksLikePackage(file->bytes());
}

Result<importers::Imported> ReadModel(const Kit& kit, const std::string& path,
                                      bool structure_only) {
  if (kit.progress) kit.progress("reading the model", 0, 0);
  importers::ImportOptions options;
  options.structure_only = structure_only;
  return importers::ImportFile(*kit.env, path, options);
}

compile::CompileOptions OptionsFor(const Kit& kit, const ModelOptions& options) {
  compile::CompileOptions o;
  o.shapes = options.shapes;
  o.npu = Wants(options.device, "NPU");
  o.cost_decides = !OnlyNpu(options.device);
  o.cpu_only_program = Wants(options.device, "CPU");
  o.tool_version = kit.tool;
  o.progress = kit.progress;
  return o;
}

Result<Model> OpenModel(const Kit& kit, const ModelOptions& options) {
  NPUKIT_ASSIGN_OR_RETURN(const bool is_package, IsPackage(*kit.env, options.path));
  return is_package ? OpenPackage(kit, options) : CompileInMemory(kit, options);
}

}  // namespace npukit::lab
