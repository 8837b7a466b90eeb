#include "format/writer.h"

#include <algorithm>
#include <array>
#include <functional>
#include <set>

#include "base/hash.h"
#include "base/text.h"
#include "format/layout.h"

namespace npukit::format {
namespace {

using Sink = std::function<Status(std::span<const std::byte>)>;

constexpr std::array<std::byte, kSegmentAlignment> kZeros{};
constexpr std::size_t kPieceBytes = std::size_t{16} << 20;  // written, then dropped, at a time

// What a segment consists of, each part at the next multiple of the alignment; gaps are zero.
struct Content {
  SegmentKind kind;
  std::vector<std::span<const std::byte>> parts;
};

Status PadTo(const Sink& sink, std::uint64_t& at, std::uint64_t alignment) {
  const std::uint64_t gap = AlignUp(at, alignment) - at;  // below a page
  at += gap;
  return gap == 0 ? OkStatus() : sink(std::span(kZeros).first(gap));
}

// Each part is needed no more once it is through: its pages may go.
Status EmitContent(const Content& content, const Sink& sink) {
  std::uint64_t at = 0;
  for (const std::span<const std::byte> part : content.parts) {
    NPUKIT_RETURN_IF_ERROR(PadTo(sink, at, kWeightAlignment));
    for (std::size_t done = 0; done < part.size();) {
      const auto piece = part.subspan(done, std::min(part.size() - done, kPieceBytes));
      NPUKIT_RETURN_IF_ERROR(sink(piece));
      if (part.size() >= kKeepInFileFrom) DropPages(piece);
      done += piece.size();
    }
    at += part.size();
  }
  return OkStatus();
}

}  // namespace

struct PackageWriter::Layout {
  Head head;
  std::vector<Content> contents;
  std::vector<std::byte> head_bytes;
  Preamble preamble;
};

std::uint32_t PackageWriter::AddWeight(std::string layout,
                                       std::shared_ptr<const std::vector<std::byte>> bytes,
                                       std::uint64_t hash) {
  const std::span<const std::byte> span = *bytes;
  return AddWeight(std::move(layout), KeptBytes{span, std::move(bytes)}, hash);
}

std::uint32_t PackageWriter::AddWeight(std::string layout, KeptBytes kept, std::uint64_t hash) {
  std::vector<std::uint32_t>& alike = by_hash_[hash];
  for (const std::uint32_t i : alike) {
    const Entry& e = weights_[i];
    if (e.layout != layout) continue;
    const bool equal = std::ranges::equal(e.kept.bytes, kept.bytes);
    DropPages(e.kept.bytes);
    DropPages(kept.bytes);
    if (equal) return i;
  }
  alike.push_back(static_cast<std::uint32_t>(weights_.size()));
  weights_.push_back({std::move(layout), std::move(kept), hash});
  return static_cast<std::uint32_t>(weights_.size() - 1);
}

std::uint32_t PackageWriter::AddBlob(std::vector<std::byte> bytes) {
  const auto same = std::find(blobs_.begin(), blobs_.end(), bytes);
  const auto index = static_cast<std::uint32_t>(same - blobs_.begin());
  if (same == blobs_.end()) blobs_.push_back(std::move(bytes));
  return index;
}

// Blobs come first, so that AddBlob can say their segment's index; then one segment per layout of
// weights, so that what one device reads lies together.
Result<PackageWriter::Layout> PackageWriter::Arrange(Head head) const {
  std::vector<Content> contents;
  for (const std::vector<std::byte>& blob : blobs_)
    contents.push_back({SegmentKind::kBlob, {blob}});
  std::vector<std::string_view> layouts;  // of the segments after the blobs
  std::vector<std::uint64_t> ends(blobs_.size(), 0);
  head.weights.clear();
  for (const Entry& e : weights_) {
    const auto found = std::find(layouts.begin(), layouts.end(), e.layout);
    const std::size_t segment = blobs_.size() + static_cast<std::size_t>(found - layouts.begin());
    if (found == layouts.end()) {
      layouts.push_back(e.layout);
      contents.push_back({SegmentKind::kWeights, {}});
      ends.push_back(0);
    }
    WeightInfo w{static_cast<std::uint32_t>(segment), AlignUp(ends[segment], kWeightAlignment),
                 e.kept.bytes.size(), e.layout};
    ends[segment] = w.offset + w.length;
    contents[segment].parts.push_back(e.kept.bytes);
    head.weights.push_back(std::move(w));
  }

  head.segments.clear();
  std::uint64_t at = kPreambleBytes;
  for (const Content& content : contents) {
    SegmentInfo s;
    s.offset = AlignUp(at, kSegmentAlignment);
    s.kind = content.kind;
    Hasher64 hasher;
    NPUKIT_RETURN_IF_ERROR(EmitContent(content, [&](std::span<const std::byte> bytes) {
      hasher.Update(bytes);
      s.length += bytes.size();
      return OkStatus();
    }));
    s.checksum = hasher.Digest();
    at = s.offset + s.length;
    head.segments.push_back(s);
  }

  std::vector<std::byte> head_bytes = EncodeHead(head);
  if (head_bytes.size() > kMaxHeadBytes) {
    return ResourceExhausted(Cat("package head of ", head_bytes.size(), " bytes; at most ",
                                 kMaxHeadBytes, " are written"));
  }
  Preamble preamble;
  preamble.head_offset = AlignUp(at, kHeadAlignment);
  preamble.head_length = head_bytes.size();
  preamble.file_length = preamble.head_offset + preamble.head_length;
  preamble.head_hash = Hash64(head_bytes);
  NPUKIT_RETURN_IF_ERROR(
      VerifyHead(head, preamble.head_offset).WithContext("cannot write this package"));
  return Layout{std::move(head), std::move(contents), std::move(head_bytes), preamble};
}

Status PackageWriter::Write(const Layout& layout, const Sink& sink) const {
  NPUKIT_RETURN_IF_ERROR(sink(EncodePreamble(layout.preamble)));
  std::uint64_t at = kPreambleBytes;
  for (std::size_t i = 0; i < layout.contents.size(); ++i) {
    NPUKIT_RETURN_IF_ERROR(PadTo(sink, at, kSegmentAlignment));
    NPUKIT_RETURN_IF_ERROR(EmitContent(layout.contents[i], sink));
    at += layout.head.segments[i].length;
  }
  NPUKIT_RETURN_IF_ERROR(PadTo(sink, at, kHeadAlignment));
  return sink(layout.head_bytes);
}

Result<std::vector<std::byte>> PackageWriter::ToBytes(Head head) const {
  NPUKIT_ASSIGN_OR_RETURN(const Layout layout, Arrange(std::move(head)));
  std::vector<std::byte> out;
  out.reserve(layout.preamble.file_length);
  NPUKIT_RETURN_IF_ERROR(Write(layout, [&](std::span<const std::byte> bytes) {
    out.insert(out.end(), bytes.begin(), bytes.end());
    return OkStatus();
  }));
  return out;
}

Result<PackageWriter::Finished> PackageWriter::Finish(Head head) const {
  NPUKIT_ASSIGN_OR_RETURN(const Layout layout, Arrange(std::move(head)));
  Finished finished;
  finished.file_bytes = layout.preamble.file_length;
  NPUKIT_ASSIGN_OR_RETURN(finished.head, DecodeHead(layout.head_bytes));
  NPUKIT_RETURN_IF_ERROR(VerifyHead(finished.head, layout.preamble.head_offset));
  return finished;
}

Status PackageWriter::ToFile(Head head, Env& env, const std::string& path) const {
  // Opened only once there is something to write: a head that cannot be written does not touch the
  // disk.
  NPUKIT_ASSIGN_OR_RETURN(const Layout layout, Arrange(std::move(head)));
  NPUKIT_ASSIGN_OR_RETURN(const std::unique_ptr<OutputFile> file, env.CreateFile(path));
  NPUKIT_RETURN_IF_ERROR(
      Write(layout, [&](std::span<const std::byte> bytes) { return file->Write(bytes); }));
  return file->Commit();
}

PackageWriter::Sizes PackageWriter::WeightSizes(const Head& head) const {
  std::vector<int> users(weights_.size(), 0);
  for (const Program& p : head.programs) {
    for (const ExecutableInfo& e : p.executables) {
      for (const std::uint32_t w : std::set<std::uint32_t>(e.weights.begin(), e.weights.end())) {
        if (w < users.size()) ++users[w];
      }
    }
  }
  Sizes sizes;
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    (users[i] > 1 ? sizes.shared_bytes : sizes.own_bytes) += weights_[i].kept.bytes.size();
  }
  return sizes;
}

}  // namespace npukit::format
