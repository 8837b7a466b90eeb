// Opens a package: maps the file, checks the head (identifier, version, length, hash, FlatBuffers
// verifier with depth and size limits, every index and range), reads no weights. A Package keeps
// the mapping alive; copies share it. Thread-safe.
//
// File layout (README.md): 64-byte preamble {magic "NPK1", schema version, head offset, head
// length, file length, hash of the head, hash of the preamble before it}, then segments at
// 4096-aligned offsets, and the head. Every bit flip in preamble or head is refused here; a blob's
// checksum is checked by Blob(), a weight's only by VerifySegments().
//
// Errors: kDataCorrupt (damaged or no package), kUnsupported (another schema version),
// kResourceExhausted (beyond a limit).
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "base/env.h"
#include "base/status.h"
#include "format/program.h"

namespace npukit::format {

bool LooksLikePackage(std::span<const std::byte> first_bytes);

class Package {
 public:
  static Result<std::shared_ptr<const Package>> Open(Env& env, const std::string& path);
  // `owner` keeps `bytes` alive. Bytes that do not begin at a multiple of 64 are copied, since
  // weights are used in place.
  static Result<std::shared_ptr<const Package>> FromBytes(std::span<const std::byte> bytes,
                                                          std::shared_ptr<const void> owner);

  const Head& head() const { return head_; }
  std::uint64_t file_bytes() const { return bytes_.size(); }
  std::span<const std::byte> Weight(std::uint32_t index) const;  // no checksum: used in place
  Result<std::span<const std::byte>> Blob(std::uint32_t segment) const;  // checks its checksum
  // Every segment's checksum, and that the gaps between segments are zero. Names the first bad
  // segment.
  Status VerifySegments(const std::function<void(int done, int total)>& progress = {}) const;

 private:
  Package() = default;
  Head head_;
  std::span<const std::byte> bytes_;
  std::shared_ptr<const void> owner_;
};

}  // namespace npukit::format
