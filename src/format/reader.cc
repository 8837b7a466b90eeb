#include "format/reader.h"

#include <cstring>
#include <new>

#include "base/hash.h"
#include "base/text.h"
#include "format/layout.h"

namespace npukit::format {
namespace {

std::string_view KindName(SegmentKind k) {
  switch (k) {
    case SegmentKind::kWeights:
      return "weights";
    case SegmentKind::kBlob:
      return "blob";
    case SegmentKind::kData:
      return "data";
  }
  return "unknown";
}

Status CheckSegment(const SegmentInfo& s, std::size_t index, std::span<const std::byte> bytes) {
  if (Hash64(bytes) == s.checksum) return OkStatus();
  return DataCorrupt(Cat("package damaged: segment ", index, " (", KindName(s.kind), ", bytes ",
                         s.offset, " to ", s.offset + s.length,
                         ") does not agree with its checksum"));
}

Status CheckGap(std::span<const std::byte> file, std::uint64_t begin, std::uint64_t end) {
  for (std::uint64_t i = begin; i < end; ++i) {
    if (file[i] != std::byte{0})
      return DataCorrupt(Cat("package damaged: byte ", i, " between segments is not zero"));
  }
  return OkStatus();
}

struct Opened {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
  Head head;
};

Result<Opened> OpenBytes(std::span<const std::byte> bytes, std::shared_ptr<const void> owner) {
  NPUKIT_ASSIGN_OR_RETURN(const Preamble p, DecodePreamble(bytes));
  if (p.file_length != bytes.size()) {
    return DataCorrupt(Cat("package ",
                           p.file_length > bytes.size() ? "cut short" : "with bytes after its end",
                           ": expected ", p.file_length, " bytes, found ", bytes.size()));
  }
  if (p.head_offset % kHeadAlignment != 0 || p.head_offset < kPreambleBytes ||
      p.head_offset > bytes.size() || p.head_length != bytes.size() - p.head_offset) {
    return DataCorrupt(Cat("package damaged: its head cannot lie at ", p.head_offset, " with ",
                           p.head_length, " bytes"));
  }
  if (Hash64(bytes.subspan(p.head_offset)) != p.head_hash)
    return DataCorrupt("package damaged: its head does not agree with its hash");

  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % kWeightAlignment != 0) {
    constexpr std::align_val_t kAlign{kWeightAlignment};
    void* copy = ::operator new(bytes.size(), kAlign, std::nothrow);
    if (copy == nullptr)
      return Status(Code::kOutOfMemory, Cat("no memory for ", bytes.size(), " bytes of package"));
    std::memcpy(copy, bytes.data(), bytes.size());
    owner = std::shared_ptr<const void>(
        copy, [](const void* c) { ::operator delete(const_cast<void*>(c), kAlign); });
    bytes = {static_cast<const std::byte*>(copy), bytes.size()};
  }
  NPUKIT_ASSIGN_OR_RETURN(Head head, DecodeHead(bytes.subspan(p.head_offset)));
  NPUKIT_RETURN_IF_ERROR(VerifyHead(head, p.head_offset));
  return Opened{bytes, std::move(owner), std::move(head)};
}

}  // namespace

bool LooksLikePackage(std::span<const std::byte> first_bytes) {
  return first_bytes.size() >= 4 && std::memcmp(first_bytes.data(), "NPK1", 4) == 0;
}

Result<std::shared_ptr<const Package>> Package::Open(Env& env, const std::string& path) {
  NPUKIT_ASSIGN_OR_RETURN(const std::shared_ptr<MappedFile> map, env.MapFile(path));
  Result<std::shared_ptr<const Package>> package = FromBytes(map->bytes(), map);
  if (!package.ok()) return package.status().WithContext(Printable(path, 300));
  return package;
}

Result<std::shared_ptr<const Package>> Package::FromBytes(std::span<const std::byte> bytes,
                                                          std::shared_ptr<const void> owner) {
  NPUKIT_ASSIGN_OR_RETURN(Opened opened, OpenBytes(bytes, std::move(owner)));
  std::shared_ptr<Package> package(new Package);
  package->head_ = std::move(opened.head);
  package->bytes_ = opened.bytes;
  package->owner_ = std::move(opened.owner);
  return std::shared_ptr<const Package>(std::move(package));
}

std::span<const std::byte> Package::Weight(std::uint32_t index) const {
  NPUKIT_CHECK(index < head_.weights.size());
  const WeightInfo& w = head_.weights[index];
  return bytes_.subspan(head_.segments[w.segment].offset + w.offset, w.length);
}

Result<std::span<const std::byte>> Package::Blob(std::uint32_t segment) const {
  if (segment >= head_.segments.size() || head_.segments[segment].kind != SegmentKind::kBlob) {
    return InvalidArgument(Cat("package segment ", segment, " is no blob"));
  }
  const SegmentInfo& s = head_.segments[segment];
  const std::span<const std::byte> bytes = bytes_.subspan(s.offset, s.length);
  NPUKIT_RETURN_IF_ERROR(CheckSegment(s, segment, bytes));
  return bytes;
}

Status Package::VerifySegments(const std::function<void(int done, int total)>& progress) const {
  const auto total = static_cast<int>(head_.segments.size());
  std::uint64_t end = kPreambleBytes;
  for (int i = 0; i < total; ++i) {
    const SegmentInfo& s = head_.segments[static_cast<std::size_t>(i)];
    NPUKIT_RETURN_IF_ERROR(CheckGap(bytes_, end, s.offset));
    NPUKIT_RETURN_IF_ERROR(
        CheckSegment(s, static_cast<std::size_t>(i), bytes_.subspan(s.offset, s.length)));
    end = s.offset + s.length;
    if (progress) progress(i + 1, total);
  }
  NPUKIT_ASSIGN_OR_RETURN(const Preamble p, DecodePreamble(bytes_));
  return CheckGap(bytes_, end, p.head_offset);
}

}  // namespace npukit::format
