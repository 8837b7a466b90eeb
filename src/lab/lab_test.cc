#include <gtest/gtest.h>

#include <set>

#include "lab/alternate.h"
#include "lab/file_names.h"
#include "lab/inputs.h"
#include "lab/shapes.h"
#include "report/records.h"

namespace npukit::lab {
namespace {

TEST(FileNames, SlashesBecomeUnderscoresAndLaterTwinsAreNumbered) {
  EXPECT_EQ(FileNames({"a/b", "x", "a_b", "a/b"}),
            (std::vector<std::string>{"a_b", "x", "a_b_2", "a_b_3"}));
  EXPECT_EQ(FileNames({"a_b_2", "a_b", "a/b"}),
            (std::vector<std::string>{"a_b_2", "a_b", "a_b_3"}));
}

TEST(RandomInput, DependsOnSeedAndNameAlone) {
  const tensor::Type type = tensor::Type::Tensor(tensor::DType::kF32, tensor::Dims{1000});
  const auto values = [&](const char* name, std::uint64_t seed) {
    const auto v = RandomInput(name, type, seed);
    EXPECT_TRUE(v.ok());
    return std::vector<float>(v->as<float>().begin(), v->as<float>().end());
  };
  EXPECT_EQ(values("x", 0), values("x", 0));
  EXPECT_NE(values("x", 0), values("x", 1));
  EXPECT_NE(values("x", 0), values("y", 0));
  double sum = 0;
  for (float f : values("x", 0)) {
    EXPECT_GE(f, -1.0f);
    EXPECT_LE(f, 1.0f);
    sum += f;
  }
  EXPECT_LT(std::abs(sum / 1000), 0.1);  // uniform: the mean of 1000 is within 0.1 but once in 10^7
}

TEST(RandomInput, WholeNumbersAreIndicesOfTheSmallestTables) {
  const auto v =
      RandomInput("token_type_ids", tensor::Type::Tensor(tensor::DType::kI64, {1, 64}), 0);
  ASSERT_TRUE(v.ok());
  std::int64_t sum = 0;
  for (const std::int64_t i : v->as<std::int64_t>()) {
    EXPECT_TRUE(i == 0 || i == 1) << i;
    sum += i;
  }
  EXPECT_GT(sum, 0);
  EXPECT_LT(sum, 64);
}

TEST(OtherInputs, DifferOnlyWhereTheModelTakesAnyValue) {
  std::vector<float> many(20);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<float>(i);
  const auto floats = tensor::Value::FromVector(tensor::DType::kF32, {20}, many);
  const auto few = tensor::Value::FromVector<float>(tensor::DType::kF32, {4}, {1, 1, 2, 2});
  const auto ids = tensor::Value::FromVector<std::int64_t>(
      tensor::DType::kI64, {2, 8}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});
  const auto lengths =
      tensor::Value::FromVector(tensor::DType::kI64, {20}, std::vector<std::int64_t>(20, 3));
  const auto random = RandomInput("r", tensor::Type::Tensor(tensor::DType::kF32, {1, 32}), 7);
  ASSERT_TRUE(random.ok());
  const auto other = OtherInputs({{"f", floats, "f.npy"},
                                  {"w", few, "w.npy"},
                                  {"i", ids, "i.npy"},
                                  {"l", lengths, "l.npy"},
                                  {"r", *random, ""}},
                                 7);
  ASSERT_TRUE(other.ok()) << other.status().message();
  // Rotated by half: value i is the given value i + 10 of 20, i + 8 of 16.
  for (std::size_t i = 0; i < 20; ++i)
    EXPECT_EQ((*other)[0].value.as<float>()[i], static_cast<float>((i + 10) % 20));
  EXPECT_EQ((*other)[1].value.data(), few.data());
  for (std::size_t i = 0; i < 16; ++i)
    EXPECT_EQ((*other)[2].value.as<std::int64_t>()[i], static_cast<std::int64_t>((i + 8) % 16));
  EXPECT_EQ((*other)[3].value.data(), lengths.data());
  const auto next = RandomInput("r", random->type(), 8);
  ASSERT_TRUE(next.ok());
  for (std::size_t i = 0; i < 32; ++i)
    EXPECT_EQ((*other)[4].value.as<float>()[i], next->as<float>()[i]);
}

TEST(ParseShapes, TheKthShapeOfEachInputBelongsToProgramK) {
  const auto sets = ParseShapes({"x=1x3", "y=2", "x=1x4"});
  ASSERT_TRUE(sets.ok());
  ASSERT_EQ(sets->size(), 2u);
  EXPECT_EQ((*sets)[0].at("x"), (tensor::Dims{1, 3}));
  EXPECT_EQ((*sets)[1].at("x"), (tensor::Dims{1, 4}));
  EXPECT_EQ((*sets)[1].at("y"), (tensor::Dims{2}));
}

TEST(ParseShapes, RefusesWhatIsNoShape) {
  for (const char* bad : {"1x3", "x=", "x=1x", "x=1xa", "=1x3", "x=0x3", "x=-1",
                          "x=99999999999999999999", "x=4294967296x4294967296x4"}) {
    EXPECT_EQ(ParseShapes({bad}).status().code(), Code::kInvalidArgument) << bad;
  }
  EXPECT_FALSE(ParseShapes({"x=1", "x=2", "y=1", "y=2", "y=3"}).ok());
}

TEST(ParseInputs, NamesAFileForEachInputOnce) {
  const auto files = ParseInputs({"x=a=b.npy"});
  ASSERT_TRUE(files.ok());
  EXPECT_EQ(files->at("x"), "a=b.npy");
  EXPECT_FALSE(ParseInputs({"x=a.npy", "x=b.npy"}).ok());
  EXPECT_FALSE(ParseInputs({"a.npy"}).ok());
}

// By hand: of 1..10 the nearest-rank percentiles are 5, 9, 10, 10; the standard deviation is
// sqrt(8.25).
TEST(Summarise, PercentilesByNearestRank) {
  const report::Latency l = report::Summarise({10, 9, 8, 7, 6, 5, 4, 3, 2, 1});
  EXPECT_EQ(l.p50, 5);
  EXPECT_EQ(l.p90, 9);
  EXPECT_EQ(l.p95, 10);
  EXPECT_EQ(l.p99, 10);
  EXPECT_EQ(l.min, 1);
  EXPECT_EQ(l.max, 10);
  EXPECT_DOUBLE_EQ(l.mean, 5.5);
  EXPECT_NEAR(l.std, 2.8722813, 1e-6);
}

}  // namespace
}  // namespace npukit::lab
