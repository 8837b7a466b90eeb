#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "base/kept_bytes.h"

namespace npukit {
namespace {

struct Mappings {
  std::mutex mutex;
  std::map<std::uintptr_t, std::size_t> sizes;  // by address; guarded by mutex
};

Mappings& All() {
  static Mappings& all = *new Mappings;  // leaked on purpose: usable until the very end
  return all;
}

std::uintptr_t Address(const std::byte* p) { return reinterpret_cast<std::uintptr_t>(p); }

// Only ever called on read-only mappings of files, which hold nothing that is not in the file.
void Drop(std::uintptr_t begin, std::uintptr_t end) {
  static const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  begin = begin / page * page;
  (void)::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

bool IsMapped(std::span<const std::byte> bytes) {
  const std::lock_guard<std::mutex> lock(All().mutex);
  const auto after = All().sizes.upper_bound(Address(bytes.data()));
  if (after == All().sizes.begin()) return false;
  const auto [at, size] = *std::prev(after);
  return Address(bytes.data()) + bytes.size() <= at + size;
}

// A read-only mapping of a file that has these bytes and no name; null when there cannot be one.
std::shared_ptr<const void> InFile(std::span<const std::byte> bytes) {
  const char* folder = std::getenv("TMPDIR");
  std::string path = folder != nullptr && *folder != '\0' ? folder : "/tmp";
  path += "/npukit-XXXXXX";
  const int fd = ::mkostemp(path.data(), O_CLOEXEC);
  if (fd < 0) return nullptr;
  (void)::unlink(path.c_str());
  std::span<const std::byte> rest = bytes;
  while (!rest.empty()) {
    const ssize_t n = ::write(fd, rest.data(), std::min(rest.size(), std::size_t{1} << 30));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    rest = rest.subspan(static_cast<std::size_t>(n));
  }
  void* p = rest.empty() ? ::mmap(nullptr, bytes.size(), PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
  ::close(fd);
  if (p == MAP_FAILED) return nullptr;
  const std::size_t size = bytes.size();
  NoteMapping({static_cast<const std::byte*>(p), size});
  return std::shared_ptr<const void>(p, [size](const void* q) {
    ForgetMapping({static_cast<const std::byte*>(q), size});
    ::munmap(const_cast<void*>(q), size);
  });
}

}  // namespace

KeptBytes KeepBytes(std::vector<std::byte> bytes) {
  if (bytes.size() >= kKeepInFileFrom) {
    if (auto file = InFile(bytes)) {
      return {{static_cast<const std::byte*>(file.get()), bytes.size()}, file};
    }
  }
  auto kept = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  return {*kept, kept};
}

KeptBytes KeepBytes(std::span<const std::byte> bytes, std::shared_ptr<const void> owner) {
  if (bytes.size() < kKeepInFileFrom || IsMapped(bytes)) return {bytes, std::move(owner)};
  if (auto file = InFile(bytes)) {
    return {{static_cast<const std::byte*>(file.get()), bytes.size()}, file};
  }
  return {bytes, std::move(owner)};
}

void DropPages(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  const std::uintptr_t begin = Address(bytes.data());
  const std::uintptr_t end = begin + bytes.size();
  const std::lock_guard<std::mutex> lock(All().mutex);
  auto at = All().sizes.upper_bound(begin);
  if (at != All().sizes.begin()) --at;
  for (; at != All().sizes.end() && at->first < end; ++at) {
    const std::uintptr_t from = std::max(begin, at->first);
    const std::uintptr_t to = std::min(end, at->first + at->second);
    if (from < to) Drop(from, to);
  }
}

void DropAllPages() {
  const std::lock_guard<std::mutex> lock(All().mutex);
  for (const auto& [at, size] : All().sizes) Drop(at, at + size);
}

void NoteMapping(std::span<const std::byte> bytes) {
  const std::lock_guard<std::mutex> lock(All().mutex);
  All().sizes[Address(bytes.data())] = bytes.size();
}

void ForgetMapping(std::span<const std::byte> bytes) {
  const std::lock_guard<std::mutex> lock(All().mutex);
  All().sizes.erase(Address(bytes.data()));
}

}  // namespace npukit
