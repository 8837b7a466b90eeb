// The bytes around the head, and the limits both sides keep. Inside format/ only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "format/program.h"

namespace npukit::format {

inline constexpr std::uint64_t kPreambleBytes = 64;
inline constexpr std::uint64_t kSegmentAlignment =
    4096;  // a page: a segment can be mapped, advised and dropped alone
inline constexpr std::uint64_t kWeightAlignment = 64;  // a cache line, and the widest vector
inline constexpr std::uint64_t kHeadAlignment = 64;
inline constexpr std::uint64_t kMaxHeadBytes = 256u << 20;
inline constexpr std::uint64_t kMaxArenaBytes = std::uint64_t{1}
                                                << 40;  // arena or scratch of one program
inline constexpr std::size_t kMaxSegments = 1u << 20;
inline constexpr std::size_t kMaxPrograms = 4096;
inline constexpr int kMaxTypeDepth = 8;
inline constexpr std::size_t kMaxRank = 32;

// The first 64 bytes, little-endian. Bytes 40 to 55 are zero; the last eight are the hash of what
// is before them.
struct Preamble {
  std::uint32_t version = kSchemaVersion;
  std::uint64_t head_offset = 0;
  std::uint64_t head_length = 0;
  std::uint64_t file_length = 0;
  std::uint64_t head_hash = 0;
};
std::vector<std::byte> EncodePreamble(const Preamble& preamble);
// kDataCorrupt: too short, no magic, or its own hash does not agree.
Result<Preamble> DecodePreamble(std::span<const std::byte> bytes);

std::vector<std::byte> EncodeHead(const Head& head);
// The FlatBuffer read as hostile: structure, sizes, depths. What the numbers mean is VerifyHead's
// to check.
Result<Head> DecodeHead(std::span<const std::byte> bytes);

// Every index, range, alignment, overlap, enumerator and type of a head whose segments end at or
// before `head_offset`. The writer asks it too, so that what was written can be opened.
Status VerifyHead(const Head& head, std::uint64_t head_offset);

inline std::uint64_t AlignUp(std::uint64_t v, std::uint64_t alignment) {
  return (v + alignment - 1) / alignment * alignment;
}

}  // namespace npukit::format
