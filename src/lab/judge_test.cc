#include "lab/judge.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace npukit::lab {
namespace {

using tensor::Dims;
using tensor::DType;
using tensor::Type;
using tensor::Value;

constexpr Tolerance kUsual;

Value Floats(const std::vector<float>& v) {
  return Value::FromVector(DType::kF32, {static_cast<std::int64_t>(v.size())}, v);
}
Value Int64s(const std::vector<std::int64_t>& v) {
  return Value::FromVector(DType::kI64, {static_cast<std::int64_t>(v.size())}, v);
}
std::string Judged(const Value& found, const Value& expected) {
  return JudgeValues(found, expected, kUsual);
}

TEST(JudgeValues, AllowsTheToleranceAndNoMore) {
  EXPECT_EQ(Judged(Floats({1.0009f, 100.09f, 9e-6f}), Floats({1, 100, 0})), "");
  EXPECT_EQ(Judged(Floats({1.002f, 1}), Floats({1, 1})),
            "element 0: expected 1, found 1.0019999742507935 (1 of 2 differ)");
  EXPECT_NE(Judged(Floats({2e-5f}), Floats({0})), "");
  EXPECT_EQ(JudgeValues(Floats({2e-5f}), Floats({0}), {0, 1e-4}), "");
}

TEST(JudgeValues, TakesNanAsNanAndInfinityAsItself) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(Judged(Floats({nan, inf, -inf}), Floats({nan, inf, -inf})), "");
  EXPECT_NE(Judged(Floats({0}), Floats({nan})), "");
  EXPECT_NE(Judged(Floats({nan}), Floats({0})), "");
  EXPECT_NE(Judged(Floats({inf}), Floats({-inf})), "");
  EXPECT_NE(Judged(Floats({1e30f}), Floats({inf})), "");
}

TEST(JudgeValues, WantsIntegersEqualToTheLastBit) {
  const std::int64_t big =
      (std::int64_t{1} << 53) + 1;  // doubles cannot tell it from its neighbour
  EXPECT_EQ(Judged(Int64s({big}), Int64s({big})), "");
  EXPECT_NE(Judged(Int64s({big - 1}), Int64s({big})), "");
  EXPECT_NE(Judged(Int64s({1001}), Int64s({1000})), "");
}

TEST(JudgeValues, WantsKindsTypesAndShapesToAgree) {
  EXPECT_EQ(Judged(Int64s({1}), Floats({1})), "expected fp32[1], found int64[1]");
  EXPECT_EQ(Judged(Floats({1}).Reshaped({1, 1}), Floats({1})),
            "expected fp32[1], found fp32[1, 1]");
  EXPECT_EQ(Judged(Value(), Floats({1})), "expected fp32[1], found nothing");
  const Type f32 = Type::Tensor(DType::kF32, std::nullopt);
  const Value two = Value::Sequence(f32, {Floats({1}), Floats({2})});
  EXPECT_EQ(Judged(two, two), "");
  EXPECT_EQ(Judged(Floats({1}), two), "expected a sequence of 2, found fp32[1]");
  EXPECT_EQ(Judged(Value::Sequence(f32, {Floats({1}), Floats({3})}), two),
            "item 1: element 0: expected 2, found 3 (1 of 1 differ)");
  const Value none = Value::Optional(f32, nullptr);
  const Value some = Value::Optional(f32, std::make_shared<Value>(Floats({1})));
  EXPECT_EQ(Judged(none, none), "");
  EXPECT_EQ(Judged(some, some), "");
  EXPECT_EQ(Judged(none, some), "expected an optional, found an empty optional");
}

TEST(JudgeValues, ReadsStringsAndComplexNumbers) {
  EXPECT_EQ(Judged(Value::Strings({2}, {"a", "b"}), Value::Strings({2}, {"a", "b"})), "");
  EXPECT_EQ(Judged(Value::Strings({2}, {"a", "c"}), Value::Strings({2}, {"a", "b"})),
            "element 1: expected \"b\", found \"c\" (1 of 2 differ)");
  const std::vector<float> one = {1, 2}, other = {1, 3};
  const Value a = Value::FromVector(DType::kComplex64, {1}, one);
  const Value b = Value::FromVector(DType::kComplex64, {1}, other);
  EXPECT_EQ(Judged(a, a), "");
  EXPECT_NE(Judged(a, b), "");  // the imaginary part alone differs
}

Value Normal(int n, float mean, float deviation, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> draw(mean, deviation);
  std::vector<float> v(static_cast<std::size_t>(n));
  for (float& x : v) x = draw(random);
  return Floats(v);
}
std::string Drawn(const Value& found, const Value& expected) {
  return JudgeDistribution(found, expected, false, kUsual);
}

TEST(JudgeDistribution, TakesAnotherSampleOfTheSame) {
  for (unsigned seed = 1; seed < 200; ++seed) {
    for (const int n : {10, 100, 1000}) {
      EXPECT_EQ(Drawn(Normal(n, 1, 2, seed), Normal(n, 1, 2, 1000 + seed)), "") << n << " " << seed;
    }
  }
}

TEST(JudgeDistribution, RefusesConstantsShiftsSpreadsAndOtherTypes) {
  const Value expected = Normal(200, 1, 2, 7);
  EXPECT_NE(Drawn(Floats(std::vector<float>(200, 1)), expected), "");
  EXPECT_NE(Drawn(Normal(200, 3, 2, 8), expected), "");
  EXPECT_NE(Drawn(Normal(200, 1, 6, 8), expected), "");
  EXPECT_NE(Drawn(Normal(200, 1, 0.3f, 8), expected), "");
  EXPECT_NE(Drawn(Normal(100, 1, 2, 8), expected), "");  // another shape
  std::vector<float> broken(200, 1);
  broken[5] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_NE(Drawn(Floats(broken), expected), "");
}

TEST(JudgeDistribution, KeepsWholeNumbersWhole) {
  std::vector<float> coins, halves;
  std::mt19937 random(3);
  for (int i = 0; i < 100; ++i) {
    coins.push_back(static_cast<float>(random() % 2));
    halves.push_back(static_cast<float>(random() % 2) * 0.99f);
  }
  EXPECT_EQ(Drawn(Floats(halves), Floats(coins)), "expected whole numbers, found others");
}

TEST(JudgeDistribution, WantsWhatDropoutKeepsToBeRight) {
  const Value expected = Floats({2, 0, 6, 0, 10, 12});
  EXPECT_EQ(JudgeDistribution(Floats({0, 4, 6, 8, 0, 12}), expected, true, kUsual), "");
  EXPECT_EQ(JudgeDistribution(Floats({0, 4, 7, 8, 0, 12}), expected, true, kUsual),
            "element 2: expected 6 or nothing, found 7");
}

}  // namespace
}  // namespace npukit::lab
