// Elements of every dtype as numbers. Expected patterns of the small floats come from the Python
// package ml_dtypes 0.6.0 (the types onnx and numpy use), those of fp16 from numpy.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tensor/narrow.h"
#include "tensor/value.h"

namespace npukit::tensor {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Value One(DType t) {
  auto v = Value::Allocate(t, {1});
  NPUKIT_CHECK(v.ok());
  __builtin_memset(v->mutable_data(), 0, v->byte_size());
  return *std::move(v);
}

struct Patterns {
  DType type;
  std::vector<unsigned> bits;  // of kNumbers, in order
};

const std::vector<double>& Numbers() {
  static const std::vector<double> numbers = {0.0,
                                              -0.0,
                                              1.0,
                                              -1.0,
                                              0x1.0000000000000p-2,
                                              0x1.8000000000000p-1,
                                              0x1.4000000000000p+0,
                                              0x1.c000000000000p+0,
                                              0x1.4000000000000p+1,
                                              0x1.c000000000000p+1,
                                              5.0,
                                              7.0,
                                              0x1.999999999999ap-4,
                                              -0x1.3333333333333p-2,
                                              17.0,
                                              19.0,
                                              240.0,
                                              248.0,
                                              256.0,
                                              448.0,
                                              464.0,
                                              465.0,
                                              480.0,
                                              57344.0,
                                              61440.0,
                                              61441.0,
                                              0x1.dcd6500000000p+29,
                                              0x1.0624dd2f1a9fcp-10,
                                              0x1.0000000000000p-10,
                                              0x1.8000000000000p-9,
                                              0x1.0000000000000p-17,
                                              0x1.8000000000000p-17,
                                              0x1.0000000000000p-24,
                                              kInf,
                                              -kInf};
  return numbers;
}

TEST(Element, SmallFloatsRoundAndOverflowAsMlDtypes) {
  const std::vector<Patterns> all = {
      {DType::kF16, {0x0,    0x8000, 0x3c00, 0xbc00, 0x3400, 0x3a00, 0x3d00, 0x3f00, 0x4100,
                     0x4300, 0x4500, 0x4700, 0x2e66, 0xb4cd, 0x4c40, 0x4cc0, 0x5b80, 0x5bc0,
                     0x5c00, 0x5f00, 0x5f40, 0x5f44, 0x5f80, 0x7b00, 0x7b80, 0x7b80, 0x7c00,
                     0x1419, 0x1400, 0x1a00, 0x80,   0xc0,   0x1,    0x7c00, 0xfc00}},
      {DType::kBF16, {0x0,    0x8000, 0x3f80, 0xbf80, 0x3e80, 0x3f40, 0x3fa0, 0x3fe0, 0x4020,
                      0x4060, 0x40a0, 0x40e0, 0x3dcd, 0xbe9a, 0x4188, 0x4198, 0x4370, 0x4378,
                      0x4380, 0x43e0, 0x43e8, 0x43e8, 0x43f0, 0x4760, 0x4770, 0x4770, 0x4e6e,
                      0x3a83, 0x3a80, 0x3b40, 0x3700, 0x3740, 0x3380, 0x7f80, 0xff80}},
      {DType::kF8E4M3FN, {0x0,  0x80, 0x38, 0xb8, 0x28, 0x34, 0x3a, 0x3e, 0x42, 0x46, 0x4a, 0x4e,
                          0x1d, 0xaa, 0x58, 0x5a, 0x77, 0x78, 0x78, 0x7e, 0x7e, 0x7f, 0x7f, 0x7f,
                          0x7f, 0x7f, 0x7f, 0x1,  0x0,  0x2,  0x0,  0x0,  0x0,  0x7f, 0xff}},
      {DType::kF8E4M3FNUZ, {0x0,  0x0,  0x40, 0xc0, 0x30, 0x3c, 0x42, 0x46, 0x4a, 0x4e, 0x52, 0x56,
                            0x25, 0xb2, 0x60, 0x62, 0x7f, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
                            0x80, 0x80, 0x80, 0x1,  0x1,  0x3,  0x0,  0x0,  0x0,  0x80, 0x80}},
      {DType::kF8E5M2, {0x0,  0x80, 0x3c, 0xbc, 0x34, 0x3a, 0x3d, 0x3f, 0x41, 0x43, 0x45, 0x47,
                        0x2e, 0xb5, 0x4c, 0x4d, 0x5c, 0x5c, 0x5c, 0x5f, 0x5f, 0x5f, 0x60, 0x7b,
                        0x7c, 0x7c, 0x7c, 0x14, 0x14, 0x1a, 0x0,  0x1,  0x0,  0x7c, 0xfc}},
      {DType::kF8E5M2FNUZ, {0x0,  0x0,  0x40, 0xc0, 0x38, 0x3e, 0x41, 0x43, 0x45, 0x47, 0x49, 0x4b,
                            0x32, 0xb9, 0x50, 0x51, 0x60, 0x60, 0x60, 0x63, 0x63, 0x63, 0x64, 0x7f,
                            0x80, 0x80, 0x80, 0x18, 0x18, 0x1e, 0x1,  0x2,  0x0,  0x80, 0x80}},
      {DType::kF4E2M1,
       {0x0, 0x8, 0x2, 0xa, 0x0, 0x2, 0x2, 0x4, 0x4, 0x6, 0x6, 0x7, 0x0, 0x9, 0x7, 0x7, 0x7, 0x7,
        0x7, 0x7, 0x7, 0x7, 0x7, 0x7, 0x7, 0x7, 0x7, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x7, 0xf}},
  };
  for (const Patterns& p : all) {
    ASSERT_EQ(p.bits.size(), Numbers().size());
    for (std::size_t i = 0; i < p.bits.size(); ++i) {
      Value v = One(p.type);
      StoreDouble(v, 0, Numbers()[i]);
      unsigned bits = 0;
      __builtin_memcpy(&bits, v.data(), v.byte_size());
      EXPECT_EQ(bits, p.bits[i]) << DTypeName(p.type) << " of " << Numbers()[i];
    }
  }
}

// Patterns from onnx 1.22's saturate_cast.
TEST(Narrow, KeepsTheLargestNumberWhenAsked) {
  constexpr double kIn[] = {0.48, 1e6, -1e6, kInf, -kInf, kNaN, 465, -1e-7, 61440};
  const std::vector<Patterns> all = {
      {DType::kF8E4M3FN, {0x2f, 0x7e, 0xfe, 0x7e, 0xfe, 0x7f, 0x7e, 0x80, 0x7e}},
      {DType::kF8E4M3FNUZ, {0x37, 0x7f, 0xff, 0x7f, 0xff, 0x80, 0x7f, 0x0, 0x7f}},
      {DType::kF8E5M2, {0x38, 0x7b, 0xfb, 0x7b, 0xfb, 0x7e, 0x5f, 0x80, 0x7b}},
      {DType::kF8E5M2FNUZ, {0x3c, 0x7f, 0xff, 0x7f, 0xff, 0x80, 0x63, 0x0, 0x7f}}};
  for (const Patterns& p : all) {
    for (std::size_t i = 0; i < p.bits.size(); ++i) {
      Value v = One(p.type);
      StoreNarrow(v, 0, kIn[i], true, PowerRounding::kUp);
      EXPECT_EQ(*static_cast<const std::uint8_t*>(v.data()), p.bits[i])
          << DTypeName(p.type) << " of " << kIn[i];
    }
  }
}

struct Table {
  DType type;
  int patterns, nans, infinities;
  double sum_of_magnitudes, weighted_sum;  // of finite values; weighted by the pattern
};

TEST(Element, SmallFloatsDecodeAsMlDtypes) {
  const std::vector<Table> tables = {
      {DType::kF8E4M3FN, 256, 2, 0, 10815.75, -692208.0},
      {DType::kF8E4M3FNUZ, 256, 1, 0, 5887.875, -376824.0},
      {DType::kF8E5M2, 256, 6, 2, 720895.9995117188, -46137343.96875},
      {DType::kF8E5M2FNUZ, 256, 1, 0, 720895.9997558594, -46137343.984375},
      {DType::kF4E2M1, 16, 0, 0, 36.0, -144.0},
  };
  for (const Table& t : tables) {
    int nans = 0, infinities = 0;
    double sum = 0, weighted = 0;
    for (int bits = 0; bits < t.patterns; ++bits) {
      Value v = One(t.type);
      *static_cast<std::uint8_t*>(v.mutable_data()) = static_cast<std::uint8_t>(bits);
      const double x = ElementAsDouble(v, 0);
      nans += std::isnan(x);
      infinities += std::isinf(x);
      if (!std::isfinite(x)) continue;
      sum += std::fabs(x);
      weighted += x * bits;
      Value back = One(t.type);
      StoreDouble(back, 0, x);
      EXPECT_EQ(*static_cast<const std::uint8_t*>(back.data()), bits) << DTypeName(t.type);
    }
    EXPECT_EQ(nans, t.nans) << DTypeName(t.type);
    EXPECT_EQ(infinities, t.infinities) << DTypeName(t.type);
    EXPECT_EQ(sum, t.sum_of_magnitudes) << DTypeName(t.type);
    EXPECT_EQ(weighted, t.weighted_sum) << DTypeName(t.type);
  }
}

// One rounding, not two: 1 + 2^-11 + 2^-40 is above the middle of two fp16 numbers, but rounds to
// the middle in fp32.
TEST(Element, RoundsFromDoubleOnce) {
  Value v = One(DType::kF16);
  StoreDouble(v, 0, 1 + 0x1p-11 + 0x1p-40);
  EXPECT_EQ(ElementAsDouble(v, 0), 1 + 0x1p-10);
}

TEST(Element, NaNStaysNaNWhereThereIsOne) {
  for (const DType t : {DType::kF16, DType::kBF16, DType::kF32, DType::kF64, DType::kF8E4M3FN,
                        DType::kF8E4M3FNUZ, DType::kF8E5M2, DType::kF8E5M2FNUZ}) {
    Value v = One(t);
    StoreDouble(v, 0, kNaN);
    EXPECT_TRUE(std::isnan(ElementAsDouble(v, 0))) << DTypeName(t);
  }
}

struct Range {
  DType type;
  double low, high;
};

TEST(Element, IntegersRoundToEvenAndSaturate) {
  for (const Range& r : std::vector<Range>{{DType::kI8, -128, 127},
                                           {DType::kI16, -32768, 32767},
                                           {DType::kI32, -2147483648.0, 2147483647.0},
                                           {DType::kU8, 0, 255},
                                           {DType::kU16, 0, 65535},
                                           {DType::kU32, 0, 4294967295.0},
                                           {DType::kI4, -8, 7},
                                           {DType::kU4, 0, 15},
                                           {DType::kI2, -2, 1},
                                           {DType::kU2, 0, 3}}) {
    Value v = One(r.type);
    const auto stored = [&](double x) {
      StoreDouble(v, 0, x);
      return ElementAsDouble(v, 0);
    };
    EXPECT_EQ(stored(r.low - 1), r.low) << DTypeName(r.type);
    EXPECT_EQ(stored(r.high + 1), r.high) << DTypeName(r.type);
    EXPECT_EQ(stored(-kInf), r.low) << DTypeName(r.type);
    EXPECT_EQ(stored(kInf), r.high) << DTypeName(r.type);
    EXPECT_EQ(stored(r.low), r.low) << DTypeName(r.type);
    EXPECT_EQ(stored(r.high), r.high) << DTypeName(r.type);
    EXPECT_EQ(stored(0.5), 0) << DTypeName(r.type);
    EXPECT_EQ(stored(kNaN), 0) << DTypeName(r.type);
    if (r.high >= 3) {
      EXPECT_EQ(stored(1.5), 2) << DTypeName(r.type);
      EXPECT_EQ(stored(2.5), 2) << DTypeName(r.type);
    }
  }
  Value v = One(DType::kI64);
  StoreDouble(v, 0, 1e30);
  EXPECT_EQ(ElementAsInt64(v, 0), std::numeric_limits<std::int64_t>::max());
  StoreDouble(v, 0, -1e30);
  EXPECT_EQ(ElementAsInt64(v, 0), std::numeric_limits<std::int64_t>::min());
}

TEST(Element, PackedElementsDoNotTouchTheirNeighbours) {
  for (const DType t : {DType::kI4, DType::kU2, DType::kI2}) {
    auto v = Value::Allocate(t, {5});
    ASSERT_TRUE(v.ok());
    __builtin_memset(v->mutable_data(), 0, v->byte_size());
    for (const std::int64_t i : {4, 2, 0, 1, 3}) StoreDouble(*v, i, i % 2);
    EXPECT_EQ(ToInt64s(*v), (std::vector<std::int64_t>{0, 1, 0, 1, 0}));
  }
  // The first element is in the low half, as ONNX packs them: 1 and -2 give 0xE1.
  auto v = Value::Allocate(DType::kI4, {2});
  ASSERT_TRUE(v.ok());
  StoreDouble(*v, 0, 1);
  StoreDouble(*v, 1, -2);
  EXPECT_EQ(*static_cast<const std::uint8_t*>(v->data()), 0xE1);
}

TEST(Element, AsInt64CutsAndSaturates) {
  const Value f =
      Value::FromVector(DType::kF64, {6}, std::vector<double>{2.9, -2.9, 1e300, -1e300, kNaN, 0});
  EXPECT_EQ(ToInt64s(f), (std::vector<std::int64_t>{2, -2, INT64_MAX, INT64_MIN, 0, 0}));
  const Value u =
      Value::FromVector(DType::kU64, {1}, std::vector<std::uint64_t>{~std::uint64_t{0}});
  EXPECT_EQ(ElementAsInt64(u, 0), INT64_MAX);
  EXPECT_EQ(ElementAsDouble(u, 0), 18446744073709551615.0);
  const Value big = Value::ScalarI64((std::int64_t{1} << 53) + 1);
  EXPECT_EQ(ElementAsInt64(big, 0), (std::int64_t{1} << 53) + 1);
}

TEST(ElementDeathTest, OutOfRangeIsOurBug) {
  const Value v = Value::Scalar(1);
  EXPECT_DEATH((void)ElementAsDouble(v, 1), "check failed");
  EXPECT_DEATH((void)ElementAsDouble(Value(), 0), "check failed");
}

}  // namespace
}  // namespace npukit::tensor
