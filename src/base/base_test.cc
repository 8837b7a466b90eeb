#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "base/hash.h"
#include "base/status.h"
#include "base/text.h"

namespace npukit {
namespace {

std::span<const std::byte> BytesOf(std::string_view s) { return std::as_bytes(std::span(s)); }

TEST(Status, CarriesCodeMessageAndContext) {
  EXPECT_TRUE(OkStatus().ok());
  EXPECT_EQ(OkStatus().message(), "");
  const Status s = NotFound("no such node").WithContext("model.onnx");
  EXPECT_EQ(s.code(), Code::kNotFound);
  EXPECT_EQ(s.message(), "model.onnx: no such node");
  EXPECT_TRUE(OkStatus().WithContext("x").ok());
}

Result<int> Half(int x) {
  if (x % 2 != 0) return InvalidArgument("odd");
  return x / 2;
}
Result<int> Quarter(int x) {
  NPUKIT_ASSIGN_OR_RETURN(const int half, Half(x));
  NPUKIT_ASSIGN_OR_RETURN(const int quarter, Half(half));
  return quarter;
}

TEST(Result, EarlyReturnPassesTheErrorOn) {
  EXPECT_EQ(*Quarter(8), 2);
  EXPECT_EQ(Quarter(6).status().message(), "odd");
}

TEST(ResultDeathTest, ReadingAnErrorAborts) { EXPECT_DEATH((void)Half(1).value(), "check failed"); }

// FIPS 180-4 examples, and `sha256sum` of 1,000,000 times 'a'.
TEST(Sha256, MatchesThePublishedDigests) {
  EXPECT_EQ(Sha256Hex({}), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256Hex(BytesOf("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Sha256Hex(BytesOf("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(Sha256Hex(BytesOf(std::string(1000000, 'a'))),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// Digests of n times 'a' around the block boundary, by Python's hashlib.
TEST(Sha256, PadsRightAroundTheBlock) {
  EXPECT_EQ(Sha256Hex(BytesOf(std::string(55, 'a'))),
            "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
  EXPECT_EQ(Sha256Hex(BytesOf(std::string(56, 'a'))),
            "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a");
  EXPECT_EQ(Sha256Hex(BytesOf(std::string(64, 'a'))),
            "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
}

// XXH3 64 of nothing and of "abc", by the PyPI package xxhash 4.1.0 (xxHash 0.8.4).
TEST(Hash64, IsXxh3) {
  EXPECT_EQ(Hash64({}), 0x2d06800538d394c2u);
  EXPECT_EQ(Hash64(BytesOf("abc")), 0x78af5f94892f3950u);
  EXPECT_EQ(Hash64(BytesOf("abc"), 1), 0x6b4467b443c76228u);
}

TEST(Hash64, DoesNotDependOnHowTheBytesAreCut) {
  std::mt19937 rng(3);
  std::string s(5000, '\0');
  for (char& c : s) c = static_cast<char>(rng());
  const std::uint64_t whole = Hash64(BytesOf(s));
  for (int round = 0; round < 50; ++round) {
    Hasher64 h;
    for (std::size_t at = 0; at < s.size();) {
      const std::size_t n = std::min<std::size_t>(rng() % 700, s.size() - at);
      h.Update(BytesOf(std::string_view(s).substr(at, n)));
      at += n;
    }
    EXPECT_EQ(h.Digest(), whole);
  }
}

TEST(Text, NumbersPrintShortestExact) {
  EXPECT_EQ(Cat("a", 1, -2L, 3u, true, 'c' == 'c'), "a1-23truetrue");
  EXPECT_EQ(Cat(0.1), "0.1");
  EXPECT_EQ(Cat(0.1f), "0.1");
  EXPECT_EQ(Cat(1.0), "1");
  EXPECT_EQ(Cat(1e100), "1e+100");
  EXPECT_EQ(Cat(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615");
  EXPECT_EQ(Cat(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
}

TEST(Text, EveryDoubleComesBack) {
  std::mt19937_64 rng(11);
  for (int i = 0; i < 20000; ++i) {
    const double x = std::bit_cast<double>(rng());
    if (!std::isfinite(x)) continue;
    double back = 0;
    ASSERT_TRUE(ParseDouble(Cat(x), &back));
    ASSERT_EQ(std::bit_cast<std::uint64_t>(back), std::bit_cast<std::uint64_t>(x)) << Cat(x);
  }
}

TEST(Text, ParsesWholeNumbersOnly) {
  std::int64_t i = 0;
  EXPECT_TRUE(ParseInt64("-9223372036854775808", &i));
  EXPECT_EQ(i, std::numeric_limits<std::int64_t>::min());
  double d = 0;
  EXPECT_TRUE(ParseDouble("-1.5e3", &d));
  EXPECT_EQ(d, -1500);
  for (const char* bad : {"", " 1", "1 ", "1x", "x", "9223372036854775808", "0x10", "+1"})
    EXPECT_FALSE(ParseInt64(bad, &i)) << bad;
  for (const char* bad : {"", " 1", "1 ", "1x", "x", "1e999", "1,5"})
    EXPECT_FALSE(ParseDouble(bad, &d)) << bad;
}

TEST(Text, SplitsAndJoins) {
  EXPECT_EQ(Split("a,,b", ','), (std::vector<std::string>{"a", "", "b"}));
  EXPECT_EQ(Split("", ','), std::vector<std::string>{""});
  EXPECT_EQ(Join({"a", "b"}, ", "), "a, b");
  EXPECT_EQ(JoinInts(std::vector<std::int64_t>{1, 3, 48}, "x"), "1x3x48");
}

TEST(Text, PrintableKeepsOneCleanLine) {
  EXPECT_EQ(Printable("conv1/weight"), "conv1/weight");
  EXPECT_EQ(Printable("a\nb\tc\x1b[31m\x7f"), "a?b?c?[31m?");
  EXPECT_EQ(Printable("\xe4\xb8\xad\xe6\x96\x87"),
            "\xe4\xb8\xad\xe6\x96\x87");            // two Chinese characters
  EXPECT_EQ(Printable("x\xff\xc0\xafy"), "x???y");  // invalid, overlong
  EXPECT_EQ(Printable("\xed\xa0\x80"), "???");      // a surrogate
  EXPECT_EQ(Printable("a\xe2\x80\xae"
                      "b\xe2\x80\xa8"),
            "a?b?");  // right-to-left override, line separator
  EXPECT_EQ(Printable(std::string(500, 'a'), 10), "aaaaaaaaaa...");
  EXPECT_EQ(Printable("ab\xe4\xb8\xad", 4), "ab...");  // never half a character
  EXPECT_EQ(Printable("\xe4\xb8"), "??");              // cut short
}

}  // namespace
}  // namespace npukit
