#include "base/kept_bytes.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <span>
#include <string>

#include "base/env.h"

namespace npukit {
namespace {

std::vector<std::byte> Pattern(std::size_t n) {
  std::vector<std::byte> v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = static_cast<std::byte>(i * 131 >> 7);
  return v;
}

// Resident memory of this process, mapped files included.
std::size_t ResidentBytes() {
  std::ifstream in("/proc/self/statm");
  std::size_t total = 0;
  std::size_t resident = 0;
  in >> total >> resident;
  return resident * 4096;
}

TEST(KeptBytes, StayWhatTheyAreAfterTheirPagesWereDropped) {
  for (const std::size_t n : {std::size_t{0}, std::size_t{100}, std::size_t{3} << 20}) {
    const auto expected = Pattern(n);
    const KeptBytes kept = KeepBytes(Pattern(n));
    DropPages(kept.bytes);
    DropAllPages();
    ASSERT_EQ(kept.bytes.size(), n);
    EXPECT_TRUE(std::equal(kept.bytes.begin(), kept.bytes.end(), expected.begin()));
  }
}

TEST(KeptBytes, TakeNoMemoryOnceDropped) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the thread sanitizer's notes of every byte touched are resident too";
#endif
  constexpr std::size_t kSize = std::size_t{64} << 20;
  const std::size_t before = ResidentBytes();
  KeptBytes kept;
  {
    // Not from the allocator: the address sanitizer keeps freed memory for a while.
    void* p = ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(p, MAP_FAILED);
    const std::shared_ptr<const void> owner(
        p, [](const void* q) { ::munmap(const_cast<void*>(q), kSize); });
    std::memset(p, 3, kSize);
    EXPECT_GE(ResidentBytes(), before + kSize);
    kept = KeepBytes(std::span(static_cast<const std::byte*>(p), kSize), owner);
  }
  unsigned sum = 0;
  for (const std::byte b : kept.bytes) sum += static_cast<unsigned>(b);
  EXPECT_EQ(sum, 3u * kSize);
  DropPages(kept.bytes);
  EXPECT_LT(ResidentBytes(), before + kSize / 4);
}

TEST(KeptBytes, OtherMemoryIsLeftAlone) {
  auto own = Pattern(std::size_t{2} << 20);
  const auto expected = own;
  DropPages(own);
  EXPECT_EQ(own, expected);
}

TEST(KeptBytes, APlaceThatCannotBeWrittenMeansMemory) {
  const char* old = std::getenv("TMPDIR");
  const std::string restore = old ? old : "";
  ::setenv("TMPDIR", "/nowhere/at/all", 1);
  const KeptBytes kept = KeepBytes(Pattern(std::size_t{2} << 20));
  old ? ::setenv("TMPDIR", restore.c_str(), 1) : ::unsetenv("TMPDIR");
  const auto expected = Pattern(std::size_t{2} << 20);
  EXPECT_TRUE(std::equal(kept.bytes.begin(), kept.bytes.end(), expected.begin(), expected.end()));
}

TEST(KeptBytes, MappedFilesAreReadAgain) {
  const std::string path = std::string(::testing::TempDir()) + "kept_bytes_test.bin";
  const auto expected = Pattern(std::size_t{2} << 20);
  ASSERT_TRUE(WriteFile(RealEnv(), path, expected).ok());
  const auto file = RealEnv().MapFile(path);
  ASSERT_TRUE(file.ok());
  const std::span<const std::byte> bytes = (*file)->bytes();
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), expected.begin()));
  DropPages(bytes.subspan(5000, 100000));
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), expected.begin()));
  // Bytes of a mapped file need no second file.
  const KeptBytes kept = KeepBytes(bytes, *file);
  EXPECT_EQ(kept.bytes.data(), bytes.data());
  std::remove(path.c_str());
}

}  // namespace
}  // namespace npukit
