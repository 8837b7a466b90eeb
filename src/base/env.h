// The only door to the operating system: files, maps, clock. Everything above takes an Env, so that
// tests can give one that fails on demand (testing/env_fake.h).
//
// All functions may be called from any thread. Paths are UTF-8. Errors name the path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"

namespace npukit {

// A read-only view of a whole file. The bytes live as long as the object. Empty files give an empty
// span.
class MappedFile {
 public:
  virtual ~MappedFile() = default;
  virtual std::span<const std::byte> bytes() const = 0;
};

// A file being written; it appears under its name only at Commit (rename of a temporary beside it),
// so a full disk or a kill leaves nothing half-written. Destroyed without Commit: the temporary is
// removed. A target that is no regular file
// (/dev/stdout, a pipe) is written directly.
class OutputFile {
 public:
  virtual ~OutputFile() = default;
  virtual Status Write(std::span<const std::byte> bytes) = 0;  // kIo: disk full or write error
  virtual Status Commit() = 0;                                 // flush, fsync, rename
};

class Env {
 public:
  virtual ~Env() = default;
  // kNotFound: no such file. kInvalidArgument: a folder. kResourceExhausted: longer than max_bytes.
  // kIo: read error, or not allowed. Pipes are read to their end.
  virtual Result<std::vector<std::byte>> ReadFile(const std::string& path,
                                                  std::uint64_t max_bytes) = 0;
  // As ReadFile; pipes and devices, which cannot be mapped, are kInvalidArgument too. Somebody who
  // shortens the file while it is mapped breaks us: packages are replaced by rename, never
  // rewritten in place.
  virtual Result<std::shared_ptr<MappedFile>> MapFile(const std::string& path) = 0;
  // kUnwritable: the place cannot be opened for writing.
  virtual Result<std::unique_ptr<OutputFile>> CreateFile(const std::string& path) = 0;
  virtual Result<std::uint64_t> FileSize(const std::string& path) = 0;  // of a regular file
  // With parents; fine when it exists. kUnwritable: not allowed, or something else has that name.
  virtual Status CreateFolder(const std::string& path) = 0;
  // Names (not paths) of the regular files in a folder, sorted; hidden ones left out. kNotFound: no
  // such folder.
  virtual Result<std::vector<std::string>> ListFolder(const std::string& path) = 0;
  virtual std::int64_t NowNs() = 0;  // monotonic
};

Env& RealEnv();

// CreateFile, Write, Commit.
Status WriteFile(Env& env, const std::string& path, std::span<const std::byte> bytes);

}  // namespace npukit
