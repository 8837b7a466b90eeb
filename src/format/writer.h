// Packs a head, blobs and weights into package bytes or a file. Equal weights (layout and bytes)
// are stored once.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/env.h"
#include "base/kept_bytes.h"
#include "base/status.h"
#include "format/program.h"

namespace npukit::format {

class PackageWriter {
 public:
  // Bytes are kept until Write. Returns the index for ExecutableInfo::weights. `hash` is Hash64 of
  // the bytes.
  std::uint32_t AddWeight(std::string layout, std::shared_ptr<const std::vector<std::byte>> bytes,
                          std::uint64_t hash);
  std::uint32_t AddWeight(std::string layout, KeptBytes kept, std::uint64_t hash);
  // Returns the segment index for ExecutableInfo::blob_segment. (Equal blobs are stored once.)
  std::uint32_t AddBlob(std::vector<std::byte> bytes);

  // Fills head.segments and head.weights, checks the head as a reader would (kDataCorrupt names
  // what cannot be), writes. Deterministic: equal input, equal bytes.
  Result<std::vector<std::byte>> ToBytes(Head head) const;
  // The head as a reader of the package will find it, and the package's size.
  struct Finished {
    Head head;
    std::uint64_t file_bytes = 0;
  };
  Result<Finished> Finish(Head head) const;
  Status ToFile(Head head, Env& env,
                const std::string& path) const;  // atomically: Env::CreateFile, Commit

  struct Sizes {
    std::uint64_t shared_bytes = 0;  // weights used by more than one executable
    std::uint64_t own_bytes = 0;     // the rest
  };
  Sizes WeightSizes(const Head& head) const;

 private:
  struct Entry {
    std::string layout;
    KeptBytes kept;
    std::uint64_t hash;
  };
  struct Layout;  // what lies where in the file
  Result<Layout> Arrange(Head head) const;
  Status Write(const Layout& layout,
               const std::function<Status(std::span<const std::byte>)>& sink) const;

  std::vector<Entry> weights_;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> by_hash_;  // into weights_
  std::vector<std::vector<std::byte>> blobs_;
};

}  // namespace npukit::format
