#include "hal/host_memory.h"

#include <gtest/gtest.h>

#include <limits>
#include <thread>

#include "base/big_pages.h"
#include "hal/signal_fence.h"

namespace npukit::hal {
namespace {

using tensor::DType;
using tensor::Type;

TEST(HostMemory, AllocatesAlignedAndOfTheSizeAsked) {
  for (const std::uint64_t size : {0u, 1u, 63u, 64u, 100000u}) {
    const auto b = AllocateHost({size, 4096});
    ASSERT_TRUE(b.ok());
    EXPECT_EQ((*b)->size_bytes(), size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>((*b)->host()) % 4096, 0u);
    if (size > 0) (*b)->host()[size - 1] = std::byte{1};
  }
  EXPECT_EQ(AllocateHost({64, 48}).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(AllocateHost({std::numeric_limits<std::uint64_t>::max(), 64}).status().code(),
            Code::kOutOfMemory);
}

TEST(HostMemory, LargeBuffersBeginAtABigPageAndAreAllThere) {
  const std::uint64_t size = 3 * kBigPageBytes + 17;  // the last big page is not whole
  const auto b = AllocateHost({size, 64});
  ASSERT_TRUE(b.ok());
  EXPECT_EQ((*b)->size_bytes(), size);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>((*b)->host()) % kBigPageBytes, 0u);
  for (std::uint64_t i = 0; i < size; i += 4096) (*b)->host()[i] = std::byte{1};
  (*b)->host()[size - 1] = std::byte{2};
  for (std::uint64_t i = 0; i < size; i += 4096) ASSERT_EQ((*b)->host()[i], std::byte{1}) << i;
  EXPECT_EQ((*b)->host()[size - 1], std::byte{2});
}

TEST(HostMemory, ImportsWithoutCopying) {
  float x[4] = {};
  const auto b = ImportHost({x, sizeof(x)});
  ASSERT_TRUE(b.ok());
  EXPECT_EQ((*b)->host(), reinterpret_cast<std::byte*>(x));
  EXPECT_TRUE(ImportHost({nullptr, 0}).ok());
  EXPECT_EQ(ImportHost({nullptr, 4}).status().code(), Code::kInvalidArgument);
}

TEST(HostMemory, BindingsAreCheckedForTypeRangeAndAlignment) {
  const Type type = Type::Tensor(DType::kF32, tensor::Dims{4});
  const auto buffer = AllocateHost({32});
  ASSERT_TRUE(buffer.ok());
  const Binding good{*buffer, 16, type};
  EXPECT_TRUE(CheckBinding(good, type, "input", 0).ok());
  EXPECT_EQ(HostAddress(good), (*buffer)->host() + 16);

  Binding b = good;
  b.buffer = nullptr;
  EXPECT_FALSE(CheckBinding(b, type, "input", 0).ok());
  b = good;
  b.type = Type::Tensor(DType::kF16, tensor::Dims{4});
  EXPECT_FALSE(CheckBinding(b, type, "input", 0).ok());
  for (const std::uint64_t offset :
       {std::uint64_t{20}, std::uint64_t{33}, std::numeric_limits<std::uint64_t>::max() - 3}) {
    b = good;
    b.offset = offset;
    EXPECT_FALSE(CheckBinding(b, type, "input", 0).ok()) << offset;
  }
  b = good;
  b.offset = 2;
  const Status s = CheckBinding(b, type, "input", 3);
  EXPECT_NE(s.message().find("input 3"), std::string::npos);

  EXPECT_TRUE(CheckScratch({}, 0).ok());
  EXPECT_FALSE(CheckScratch({}, 1).ok());
  EXPECT_TRUE(CheckScratch({*buffer, 0, {}}, 32).ok());
  EXPECT_FALSE(CheckScratch({*buffer, 0, {}}, 33).ok());
  EXPECT_FALSE(CheckScratch({*buffer, 8, {}}, 8).ok());
}

TEST(SignalFence, WakesWhoWaitsWithStatusAndTiming) {
  const auto fence = std::make_shared<SignalFence>();
  EXPECT_FALSE(fence->done());
  Status seen;
  std::thread waiter([&] { seen = fence->Wait(); });
  Timing t;
  t.end_ns = 7;
  fence->Signal(IoError("gone"), t);
  waiter.join();
  EXPECT_EQ(seen.code(), Code::kIo);
  EXPECT_TRUE(fence->done());
  EXPECT_EQ(fence->timing().end_ns, 7);
  EXPECT_TRUE(DoneFence(OkStatus(), t)->Wait().ok());
}

}  // namespace
}  // namespace npukit::hal
