#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "eval/compare.h"
#include "eval/equivalence.h"
#include "eval/interpret.h"
#include "ir/builder.h"

namespace npukit::eval {
namespace {

using tensor::DType;
using tensor::Value;

Value Floats(const std::vector<float>& v) {
  return Value::FromVector(DType::kF32, {static_cast<std::int64_t>(v.size())}, v);
}

// y = relu(x * 2 - 3), by hand: [1, 2, -4] -> [0, 1, 0].
ir::Graph ScaleShiftRelu() {
  ir::Builder b;
  const ir::ValueId x = b.Input("x", DType::kF32, {3});
  const ir::ValueId m = b.Op(op::mul, {x, b.Floats("two", {1}, {2})});
  const ir::ValueId s = b.Op(op::sub, {m, b.Floats("three", {1}, {3})});
  return b.Finish({b.Op(op::relu, {s})});
}

TEST(Interpret, RunsNodesInOrder) {
  const std::vector<Value> in = {Floats({1, 2, -4})};
  const auto out = Interpret(ScaleShiftRelu(), in);
  ASSERT_TRUE(out.ok()) << out.status().message();
  const auto y = (*out)[0].as<float>();
  EXPECT_EQ(std::vector<float>(y.begin(), y.end()), (std::vector<float>{0, 1, 0}));
}

TEST(Interpret, TapsSeeInputsAndEveryResult) {
  std::vector<ir::ValueId> seen;
  const std::vector<Value> in = {Floats({1, 2, -4})};
  const ir::Graph g = ScaleShiftRelu();
  ASSERT_TRUE(Interpret(g, in, [&](ir::ValueId id, const Value&) { seen.push_back(id); }).ok());
  EXPECT_EQ(seen, (std::vector<ir::ValueId>{g.inputs[0], g.nodes[0].outputs[0],
                                            g.nodes[1].outputs[0], g.nodes[2].outputs[0]}));
}

TEST(Interpret, NamesTheInputThatDoesNotFit) {
  const std::vector<Value> in = {Floats({1, 2})};
  const Status s = Interpret(ScaleShiftRelu(), in).status();
  EXPECT_EQ(s.code(), Code::kInvalidArgument);
  EXPECT_NE(s.message().find("input x: expected fp32[3], found fp32[2]"), std::string::npos)
      << s.message();
  EXPECT_FALSE(Interpret(ScaleShiftRelu(), {}).ok());
}

TEST(Interpret, RefusesForeignNodesByName) {
  ir::Builder b;
  const ir::ValueId x = b.Input("x", DType::kF32, {3});
  ir::Graph g = b.Finish({b.Op(op::relu, {x})});
  g.nodes[0].op = nullptr;
  g.nodes[0].foreign_op = "Frob";
  const std::vector<Value> in = {Floats({1, 2, 3})};
  const Status s = Interpret(g, in).status();
  EXPECT_EQ(s.code(), Code::kUnsupported);
  EXPECT_NE(s.message().find("relu_0 (Frob)"), std::string::npos) << s.message();
}

// conv 1x1 by hand: y = 2a + 3b; then the epilogue relu(y - k), k = 10 -> a = 1, b = 4: 4.
TEST(Interpret, AppliesEpilogues) {
  ir::Builder b;
  const ir::ValueId x = b.Input("x", DType::kF32, {1, 2, 1, 1});
  ir::Node n;
  n.op = &op::conv2d;
  n.inputs = {x, b.Floats("w", {1, 2, 1, 1}, {2, 3}), ir::kNoValue, b.Floats("k", {}, {10})};
  n.epilogue = {{&op::sub, {}, 3, false}, {&op::relu, {}, -1, false}};
  n.outputs = {b.graph().AddValue("y", {})};
  const ir::ValueId y = n.outputs[0];
  ASSERT_TRUE(b.graph().AddNode(n).ok());
  const ir::Graph g = b.Finish({y});
  const std::vector<Value> in = {Value::FromVector<float>(DType::kF32, {1, 2, 1, 1}, {1, 4})};
  const auto out = Interpret(g, in);
  ASSERT_TRUE(out.ok()) << out.status().message();
  EXPECT_EQ((*out)[0].as<float>()[0], 4.0f);
}

TEST(Compare, CountsUnitsInTheLastPlaceOfTheType) {
  // 1 + 2^-23 is the fp32 after 1; 1 + 2^-10 the fp16 after 1.
  const auto f32 = Compare(Floats({1.0f + 0x1p-23f}), Floats({1.0f}));
  ASSERT_TRUE(f32.ok());
  EXPECT_EQ(f32->max_ulp, 1.0);
  const auto half = [](std::uint16_t bits) {
    return Value::FromVector<std::uint16_t>(DType::kF16, {1}, {bits});
  };
  const auto f16 = Compare(half(0x3C02), half(0x3C00));
  ASSERT_TRUE(f16.ok());
  EXPECT_EQ(f16->max_ulp, 2.0);
  // Below the normal numbers the step stays that of the smallest normal: 2^-149.
  const auto tiny = Compare(Floats({0x1p-149f}), Floats({0.0f}));
  EXPECT_EQ(tiny->max_ulp, 1.0);
}

TEST(Compare, MeasuresAgainstTheLargestReference) {
  const auto d = Compare(Floats({1, 2, 3.5}), Floats({1, 2, 4}));
  ASSERT_TRUE(d.ok());
  EXPECT_EQ(d->max_abs, 0.5);
  EXPECT_EQ(d->relative(), 0.125);
  EXPECT_EQ(d->unequal, 1);
  EXPECT_EQ(d->worst, 2);
  // (1 + 4 + 14) / (sqrt(17.25) sqrt(21))
  EXPECT_NEAR(d->cosine, 19 / (std::sqrt(17.25) * std::sqrt(21.0)), 1e-12);
  EXPECT_TRUE(Within(*d, Agreement::Relative(0.125)));
  EXPECT_FALSE(Within(*d, Agreement::Relative(0.12)));
}

TEST(Compare, NaNAndInfinityAgreeOnlyWithThemselves) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(Compare(Floats({nan, inf, -inf}), Floats({nan, inf, -inf}))->mismatched, 0);
  EXPECT_EQ(Compare(Floats({nan, inf, -inf, 0}), Floats({0, -inf, 1, nan}))->mismatched, 4);
  const Agreement loose{1e30, 1e30, 1e30, -1};
  EXPECT_FALSE(Within(*Compare(Floats({nan}), Floats({0})), loose));
}

TEST(Compare, ZerosOfBothSignsAreEqual) {
  const auto d = Compare(Floats({-0.0f}), Floats({0.0f}));
  EXPECT_EQ(d->unequal, 0);
  EXPECT_TRUE(Within(*d, Agreement::Exact()));
}

TEST(Compare, RefusesOtherTypesAndShapes) {
  EXPECT_FALSE(Compare(Floats({1, 2}), Floats({1})).ok());
  EXPECT_FALSE(Compare(Floats({1}), Value::FromVector<std::int32_t>(DType::kI32, {1}, {1})).ok());
}

TEST(Equivalence, FindsADifferenceAndPrintsItsSeed) {
  const ir::Graph a = ScaleShiftRelu();
  ir::Graph b = ScaleShiftRelu();
  EXPECT_TRUE(CheckEquivalence(a, b, {}).ok());
  b.nodes[2].op = &op::sigmoid;
  EquivalenceOptions o;
  o.seed = 77;
  const Status s = CheckEquivalence(a, b, o);
  ASSERT_FALSE(s.ok());
  EXPECT_NE(s.message().find("seed 77"), std::string::npos) << s.message();
}

TEST(RandomValue, IsTheSameForTheSameSeed) {
  const tensor::Type t = tensor::Type::Tensor(DType::kF32, {1000});
  const auto a = RandomValue(t, 5, false);
  const auto b = RandomValue(t, 5, false);
  const auto c = RandomValue(t, 6, false);
  EXPECT_EQ(Compare(*a, *b)->unequal, 0);
  EXPECT_GT(Compare(*a, *c)->unequal, 900);
  double sum = 0;
  for (const float x : a->as<float>()) sum += x;
  EXPECT_LT(std::abs(sum / 1000), 0.2);
}

}  // namespace
}  // namespace npukit::eval
