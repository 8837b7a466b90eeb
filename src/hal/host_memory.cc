#include "hal/host_memory.h"

#include <algorithm>
#include <cstdlib>

#include "base/big_pages.h"
#include "base/text.h"

namespace npukit::hal {
namespace {

class HostBuffer final : public Buffer {
 public:
  HostBuffer(std::byte* host, std::uint64_t size, bool owned)
      : host_(host), size_(size), owned_(owned) {}
  ~HostBuffer() override {
    if (owned_) std::free(host_);
  }
  std::byte* host() override { return host_; }
  std::uint64_t size_bytes() const override { return size_; }

 private:
  std::byte* host_;
  std::uint64_t size_;
  bool owned_;
};

Status CheckRange(const Binding& b, std::uint64_t bytes, std::string_view what) {
  const std::uint64_t size = b.buffer->size_bytes();
  if (b.offset <= size && bytes <= size - b.offset) return OkStatus();
  return InvalidArgument(
      Cat(what, ": ", bytes, " bytes at ", b.offset, " do not fit a buffer of ", size));
}

bool Aligned(const Binding& b, std::uint64_t alignment) {
  return reinterpret_cast<std::uintptr_t>(HostAddress(b)) % alignment == 0;
}

}  // namespace

Result<BufferPtr> AllocateHost(const BufferSpec& spec) {
  if ((spec.alignment & (spec.alignment - 1)) != 0) {
    return InvalidArgument(
        Cat("buffer alignment: expected a power of two, found ", spec.alignment));
  }
  const bool big = spec.size_bytes >= kBigPageBytes;
  const std::uint64_t alignment = std::max<std::uint64_t>(spec.alignment, big ? kBigPageBytes : 64);
  const Status no_memory(Code::kOutOfMemory,
                         Cat("no memory for a buffer of ", spec.size_bytes, " bytes"));
  std::uint64_t rounded = 0;
  if (__builtin_add_overflow(std::max<std::uint64_t>(spec.size_bytes, 1), alignment - 1,
                             &rounded) ||
      rounded > PTRDIFF_MAX) {
    return no_memory;
  }
  void* p = std::aligned_alloc(alignment, rounded & ~(alignment - 1));
  if (p == nullptr) return no_memory;
  if (big) WishBigPages(p, spec.size_bytes);
  return BufferPtr(std::make_shared<HostBuffer>(static_cast<std::byte*>(p), spec.size_bytes, true));
}

Result<BufferPtr> ImportHost(const ExternalMemory& memory) {
  if (memory.host == nullptr && memory.size_bytes != 0) {
    return InvalidArgument(
        Cat("imported memory: expected an address, found null with ", memory.size_bytes, " bytes"));
  }
  return BufferPtr(
      std::make_shared<HostBuffer>(static_cast<std::byte*>(memory.host), memory.size_bytes, false));
}

Status CheckBinding(const Binding& b, const tensor::Type& type, std::string_view what,
                    std::size_t index) {
  const std::string name = Cat(what, " ", index);
  if (b.buffer == nullptr) return InvalidArgument(Cat(name, " has no buffer"));
  if (b.type != type)
    return InvalidArgument(
        Cat(name, ": expected ", type.ToString(), ", found ", b.type.ToString()));
  const std::optional<std::uint64_t> bytes = type.bytes();
  if (!bytes) return InvalidArgument(Cat(name, ": ", type.ToString(), " has no fixed size"));
  NPUKIT_RETURN_IF_ERROR(CheckRange(b, *bytes, name));
  const int element = std::clamp(tensor::DTypeBits(type.dtype) / 8, 1, 8);
  if (!Aligned(b, static_cast<std::uint64_t>(element))) {
    return InvalidArgument(Cat(name, " is not aligned to its ", element, "-byte elements"));
  }
  return OkStatus();
}

Status CheckScratch(const Binding& b, std::uint64_t bytes) {
  if (bytes == 0) return OkStatus();
  if (b.buffer == nullptr)
    return InvalidArgument(Cat("scratch: expected ", bytes, " bytes, found no buffer"));
  NPUKIT_RETURN_IF_ERROR(CheckRange(b, bytes, "scratch"));
  if (!Aligned(b, 64)) return InvalidArgument("scratch is not aligned to 64 bytes");
  return OkStatus();
}

std::byte* HostAddress(const Binding& b) {
  return b.buffer == nullptr ? nullptr : b.buffer->host() + b.offset;
}

}  // namespace npukit::hal
