// Packages compiled in memory, kept in NPUKIT_CACHE_DIR (when it is set) under the hash of
// everything that went into them: the model with its weights, the profile, the options, npukit's
// own version. Written atomically, verified when read; a bad entry is as good as none.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/env.h"
#include "compile/compile.h"
#include "format/reader.h"
#include "importers/import.h"

namespace npukit::lab {

std::string CacheKey(const importers::Imported& model, const target::Profile& profile,
                     const compile::CompileOptions& options);

class Cache {
 public:
  Cache(Env& env, const std::string& key);
  // Null when there is none, or it does not verify, or it was made from another model.
  std::shared_ptr<const format::Package> Find(const std::string& model_sha256) const;
  Status Put(std::span<const std::byte> package) const;

 private:
  Env& env_;
  std::string folder_;  // "" when there is no cache
  std::string path_;
};

}  // namespace npukit::lab
