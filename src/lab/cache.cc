#include "lab/cache.h"

#include <cstdio>
#include <cstdlib>

#include "base/hash.h"
#include "base/text.h"

namespace npukit::lab {
namespace {

std::span<const std::byte> Bytes(const std::string& s) {
  return std::as_bytes(std::span(s.data(), s.size()));
}

}  // namespace

std::string CacheKey(const importers::Imported& model, const target::Profile& profile,
                     const compile::CompileOptions& options) {
  std::string text = Cat(model.sha256, "\n", options.tool_version, "\n", format::kSchemaVersion,
                         "\n", profile.Hash(), "\n", options.npu, options.cost_decides,
                         options.cpu_only_program, options.strict_npu, "\n",
                         Join(options.skip_passes, ","), "\n", Join(options.allow, ","), "\n");
  for (const auto& set : options.shapes) {
    for (const auto& [name, dims] : set) text += Cat(name, "=", JoinInts(dims, "x"), " ");
    text += '\n';
  }
  for (const ir::ValueInfo& v :
       model.graph.values) {  // external data is not in the file's own hash
    if (v.constant) text += Cat(Hash64(v.constant->bytes()), " ");
  }
  char key[33];
  std::snprintf(key, sizeof key, "%016llx%016llx",
                static_cast<unsigned long long>(Hash64(Bytes(text), 1)),
                static_cast<unsigned long long>(Hash64(Bytes(text), 2)));
  return key;
}

Cache::Cache(Env& env, const std::string& key) : env_(env) {
  const char* folder = std::getenv("NPUKIT_CACHE_DIR");
  if (folder == nullptr || *folder == '\0') return;
  folder_ = folder;
  path_ = Cat(folder_, "/", key, ".npk");
}

std::shared_ptr<const format::Package> Cache::Find(const std::string& model_sha256) const {
  if (folder_.empty()) return nullptr;
  auto package = format::Package::Open(env_, path_);
  if (!package.ok() || (*package)->head().model_sha256 != model_sha256 ||
      !(*package)->VerifySegments().ok())
    return nullptr;
  return std::move(package).value();
}

Status Cache::Put(std::span<const std::byte> package) const {
  if (folder_.empty()) return OkStatus();
  Status s = env_.CreateFolder(folder_);
  if (s.ok()) s = WriteFile(env_, path_, package);
  return s.WithContext("NPUKIT_CACHE_DIR: the compiled package is not kept");
}

}  // namespace npukit::lab
