// The head of a package. Half of the inputs are a whole file; the others are a head alone, given
// the preamble and hashes that agree with it, so that mutations reach what is behind the checksums.
#include <cstring>
#include <memory>
#include <vector>

#include "base/hash.h"
#include "format/layout.h"
#include "format/reader.h"
#include "fuzz/fuzz.h"

using namespace npukit;

namespace {

std::vector<std::byte> AroundHead(const std::uint8_t* data, std::size_t size) {
  format::Preamble p;
  p.head_offset = 3 * format::kSegmentAlignment;  // room for two segments of zeros
  p.head_length = size;
  p.file_length = p.head_offset + size;
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  p.head_hash = Hash64({bytes, size});
  std::vector<std::byte> file = format::EncodePreamble(p);
  file.resize(p.head_offset);
  file.insert(file.end(), bytes, bytes + size);
  return file;
}

// Everything a reader may ask of a package that opened.
void Walk(const format::Package& package) {
  const format::Head& head = package.head();
  unsigned sum = 0;
  for (std::uint32_t i = 0; i < head.weights.size(); ++i) {
    const format::WeightInfo& w = head.weights[i];
    const format::SegmentInfo& s = head.segments[w.segment];
    fuzz::Must(w.offset <= s.length && w.length <= s.length - w.offset,
               "a weight lies in its segment");
    for (const std::byte b : package.Weight(i)) sum += static_cast<unsigned>(b);
  }
  for (std::uint32_t i = 0; i < head.segments.size(); ++i) {
    if (head.segments[i].kind == format::SegmentKind::kBlob && package.Blob(i).ok()) ++sum;
  }
  if (const Status s = package.VerifySegments(); !s.ok()) fuzz::MustBeGoodMessage(s);
  volatile unsigned keep = sum;
  (void)keep;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  auto file = std::make_shared<std::vector<std::byte>>();
  if (data[0] % 2 == 0) {
    const auto* bytes = reinterpret_cast<const std::byte*>(data);
    file->assign(bytes + 1, bytes + size);
  } else {
    *file = AroundHead(data + 1, size - 1);
  }
  const auto package = format::Package::FromBytes(*file, file);
  if (!package.ok()) {
    fuzz::MustBeGoodMessage(package.status());
    return 0;
  }
  Walk(**package);
  return 0;
}
