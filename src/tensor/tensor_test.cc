#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "tensor/half.h"
#include "tensor/quant_params.h"
#include "tensor/value.h"

namespace npukit::tensor {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST(DType, NamesGoThereAndBack) {
  for (int i = 1; i < kDTypeCount; ++i) {
    const auto t = static_cast<DType>(i);
    EXPECT_NE(DTypeName(t), "undefined") << i;
    EXPECT_EQ(DTypeFromName(DTypeName(t)), t) << i;
  }
  EXPECT_EQ(DTypeName(static_cast<DType>(200)), "undefined");
  EXPECT_EQ(DTypeFromName("undefined"), std::nullopt);
  EXPECT_EQ(DTypeFromName("float"), std::nullopt);
}

TEST(DType, SizesArePackedAndChecked) {
  EXPECT_EQ(StorageBytes(DType::kF32, 3), 12u);
  EXPECT_EQ(StorageBytes(DType::kI4, 3), 2u);
  EXPECT_EQ(StorageBytes(DType::kU2, 5), 2u);
  EXPECT_EQ(StorageBytes(DType::kBool, 3), 3u);
  EXPECT_EQ(StorageBytes(DType::kComplex128, 2), 32u);
  EXPECT_EQ(StorageBytes(DType::kString, 1), std::nullopt);
  EXPECT_EQ(StorageBytes(DType::kUndefined, 1), std::nullopt);
  EXPECT_EQ(StorageBytes(DType::kF64, std::numeric_limits<std::uint64_t>::max() / 4), std::nullopt);
  EXPECT_TRUE(IsFloat(DType::kF4E2M1) && IsSigned(DType::kF16) && IsSigned(DType::kI2) &&
              !IsSigned(DType::kU8));
  EXPECT_TRUE(IsInteger(DType::kU4) && !IsInteger(DType::kBool) && !IsInteger(DType::kF32));
}

TEST(Shape, CountsStridesAndText) {
  EXPECT_EQ(ElementCount({}), 1);
  EXPECT_EQ(ElementCount({2, 3, 4}), 24);
  EXPECT_EQ(ElementCount({2, -1}), std::nullopt);
  EXPECT_EQ(ElementCount({std::int64_t{1} << 40, std::int64_t{1} << 40}), std::nullopt);
  EXPECT_EQ(ElementCount({std::int64_t{1} << 40, std::int64_t{1} << 40, 0}), 0);
  EXPECT_EQ(DenseStrides({2, 3, 4}), (Dims{12, 4, 1}));
  EXPECT_EQ(DenseStrides({}), Dims{});
  const Shape s({Dim::Of(1), Dim::Symbol("H"), Dim{}});
  EXPECT_EQ(s.ToString(), "[1, H, ?]");
  EXPECT_FALSE(s.is_static());
  EXPECT_EQ(Shape::Of({1, 2}).Concrete(), (Dims{1, 2}));
  // Messages quote shapes: long ones are cut, and say so.
  const Shape named(std::vector<Dim>(20, Dim::Symbol(std::string(50, 'n'))));
  EXPECT_LT(named.ToString().size(), 400u);
  EXPECT_TRUE(named.ToString().ends_with(", and 16 more]")) << named.ToString();
}

TEST(Type, ComparesAndPrints) {
  const Type t = Type::Tensor(DType::kF32, Dims{1, 3});
  EXPECT_EQ(t.ToString(), "fp32[1, 3]");
  EXPECT_EQ(t.bytes(), 12u);
  EXPECT_EQ(Type::Tensor(DType::kF32, std::nullopt).ToString(), "fp32[...]");
  EXPECT_EQ(Type::Sequence(Type::Tensor(DType::kI64, Shape({Dim{}}))).ToString(), "seq(int64[?])");
  EXPECT_EQ(Type::Optional(t).ToString(), "optional(fp32[1, 3])");
  EXPECT_EQ(t, Type::Tensor(DType::kF32, Dims{1, 3}));
  EXPECT_NE(t, Type::Tensor(DType::kF16, Dims{1, 3}));
  EXPECT_NE(t, Type::Tensor(DType::kF32, std::nullopt));
  EXPECT_EQ(Type::Sequence(t), Type::Sequence(t));
  EXPECT_NE(Type::Sequence(t), Type::Optional(t));
  EXPECT_EQ(Type::Tensor(DType::kString, Dims{2}).bytes(), std::nullopt);
  EXPECT_EQ(Type::Tensor(DType::kF32, Shape({Dim::Symbol("N")})).bytes(), std::nullopt);
}

TEST(Value, AllocatesAlignedAndBounded) {
  for (const Dims& dims : {Dims{}, Dims{0}, Dims{7}, Dims{3, 5}}) {
    const auto v = Value::Allocate(DType::kF32, dims);
    ASSERT_TRUE(v.ok());
    EXPECT_NE(v->data(), nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(v->data()) % 64, 0u);
  }
  EXPECT_EQ(Value::Allocate(DType::kF32, {std::int64_t{1} << 40}).status().code(),
            Code::kResourceExhausted);
  EXPECT_EQ(Value::Allocate(DType::kF32, {std::int64_t{1} << 62, 8}).status().code(),
            Code::kResourceExhausted);
  EXPECT_EQ(Value::Allocate(DType::kF32, {-1}).status().code(), Code::kResourceExhausted);
  EXPECT_EQ(Value::Allocate(DType::kString, {std::int64_t{1} << 40}).status().code(),
            Code::kResourceExhausted);
  EXPECT_FALSE(Value::Allocate(DType::kUndefined, {1}).ok());
}

TEST(Value, CopiesShareAndClonesDoNot) {
  Value a = Value::FromVector(DType::kF32, {2}, std::vector<float>{1, 2});
  const Value shared = a;
  auto own = a.Clone();
  ASSERT_TRUE(own.ok());
  a.as_mutable<float>()[0] = 5;
  EXPECT_EQ(shared.as<float>()[0], 5);
  EXPECT_EQ(own->as<float>()[0], 1);
  EXPECT_EQ(a.Reshaped({2, 1}).data(), a.data());
  EXPECT_EQ(a.Reshaped({2, 1}).type().ToString(), "fp32[2, 1]");
}

TEST(Value, KeepsItsOwnerAlive) {
  auto owner = std::make_shared<std::vector<float>>(std::vector<float>{3});
  std::weak_ptr<std::vector<float>> watch = owner;
  Value v = Value::Shared(DType::kF32, {1}, owner, owner->data());
  owner.reset();
  EXPECT_FALSE(watch.expired());
  EXPECT_EQ(v.as<float>()[0], 3);
  v = Value();
  EXPECT_TRUE(watch.expired());
  EXPECT_FALSE(v.present());
}

TEST(Value, StringsSequencesAndOptionals) {
  const Value s = Value::Strings({2}, {"a", "b"});
  EXPECT_EQ(s.strings()[1], "b");
  EXPECT_EQ(s.byte_size(), 0u);
  auto copy = s.Clone();
  ASSERT_TRUE(copy.ok());
  copy->mutable_strings()[0] = "x";
  EXPECT_EQ(s.strings()[0], "a");

  const Type t = Type::Tensor(DType::kF32, Dims{});
  const Value seq = Value::Sequence(t, {Value::Scalar(1), Value::Scalar(2)});
  EXPECT_EQ(seq.items().size(), 2u);
  EXPECT_EQ(seq.type(), Type::Sequence(t));
  auto deep = seq.Clone();
  ASSERT_TRUE(deep.ok());
  EXPECT_NE(deep->items()[0].data(), seq.items()[0].data());

  EXPECT_EQ(Value::Optional(t, nullptr).optional_item(), nullptr);
  EXPECT_EQ(
      Value::Optional(t, std::make_shared<Value>(Value::Scalar(4))).optional_item()->as<float>()[0],
      4);
}

TEST(ValueDeathTest, WrongCountsAreOurBug) {
  EXPECT_DEATH((void)Value::FromVector(DType::kF32, {3}, std::vector<float>{1}), "check failed");
  EXPECT_DEATH((void)Value::Scalar(1).Reshaped({2}), "check failed");
}

// Every fp16 pattern, by hand: sign, exponent 5 bits with bias 15, mantissa 10 bits (IEEE 754
// binary16).
double HalfByHand(std::uint16_t h) {
  const double sign = h & 0x8000 ? -1 : 1;
  const int e = (h >> 10) & 31;
  const int m = h & 1023;
  if (e == 31) return m ? kNaN : sign * kInf;
  return sign * (e == 0 ? m * 0x1p-24 : (1 + m / 1024.0) * std::exp2(e - 15));
}

TEST(Half, EveryPatternConvertsThereAndBack) {
  for (int i = 0; i < 65536; ++i) {
    const auto h = static_cast<std::uint16_t>(i);
    const float f = HalfToFloat(h);
    const double expected = HalfByHand(h);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(f));
      EXPECT_TRUE(std::isnan(HalfToFloat(FloatToHalf(f))));
      continue;
    }
    ASSERT_EQ(f, expected) << i;
    ASSERT_EQ(FloatToHalf(f), h) << i;
  }
}

// Between each two neighbours: just below the middle goes down, just above goes up, the middle to
// the even one.
TEST(Half, RoundsToNearestEven) {
  for (int i = 0; i < 0x7BFF; ++i) {
    const auto low = static_cast<std::uint16_t>(i);
    const auto high = static_cast<std::uint16_t>(i + 1);
    const auto middle =
        static_cast<float>((HalfByHand(low) + HalfByHand(high)) / 2);  // exact in fp32
    ASSERT_EQ(FloatToHalf(std::nextafterf(middle, 0)), low) << i;
    ASSERT_EQ(FloatToHalf(std::nextafterf(middle, 1e9f)), high) << i;
    ASSERT_EQ(FloatToHalf(middle), i % 2 == 0 ? low : high) << i;
    ASSERT_EQ(FloatToHalf(-middle), (i % 2 == 0 ? low : high) | 0x8000) << i;
  }
  EXPECT_EQ(FloatToHalf(65519.99f), 0x7BFF);
  EXPECT_EQ(FloatToHalf(65520.0f), 0x7C00);
  EXPECT_EQ(FloatToHalf(static_cast<float>(-kInf)), 0xFC00);
  EXPECT_EQ(FloatToHalf(-0.0f), 0x8000);
}

TEST(BFloat16, RoundsToNearestEven) {
  EXPECT_EQ(FloatToBFloat16(1.0f), 0x3F80);
  EXPECT_EQ(FloatToBFloat16(std::bit_cast<float>(0x3F808000u)), 0x3F80);  // tie, even below
  EXPECT_EQ(FloatToBFloat16(std::bit_cast<float>(0x3F818000u)), 0x3F82);  // tie, even above
  EXPECT_EQ(FloatToBFloat16(std::bit_cast<float>(0x3F808001u)), 0x3F81);
  EXPECT_EQ(FloatToBFloat16(3.4e38f), 0x7F80);
  EXPECT_TRUE(std::isnan(BFloat16ToFloat(FloatToBFloat16(static_cast<float>(kNaN)))));
  EXPECT_EQ(BFloat16ToFloat(0xC000), -2.0f);
}

}  // namespace
}  // namespace npukit::tensor
