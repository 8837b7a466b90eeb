// Big byte arrays that need not stay in memory: the pages of a mapped file can be given back and
// are read again when they are touched. So a model of many gigabytes is compiled in little more
// memory than its largest weight needs.
//
// All functions may be called from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace npukit {

// Bytes and what keeps them alive.
struct KeptBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

inline constexpr std::uint64_t kKeepInFileFrom = std::uint64_t{1} << 20;

// Keeps them for as long as somebody holds the owner. From kKeepInFileFrom on they go to a file
// without a name in the folder TMPDIR names (else /tmp) and stay mapped; where that cannot be
// written they stay in memory.
KeptBytes KeepBytes(std::vector<std::byte> bytes);
// The same for bytes that have an owner already. Those that lie in a mapped file stay where they
// are.
KeptBytes KeepBytes(std::span<const std::byte> bytes, std::shared_ptr<const void> owner);

// "I have read these and do not need them soon." Gives back the pages of mapped files that lie
// wholly or partly in the span; does nothing for other memory. The bytes stay readable.
void DropPages(std::span<const std::byte> bytes);
void DropAllPages();  // of every mapped file

// For whoever maps files read-only: DropPages touches only what is listed here.
void NoteMapping(std::span<const std::byte> bytes);
void ForgetMapping(std::span<const std::byte> bytes);

}  // namespace npukit
