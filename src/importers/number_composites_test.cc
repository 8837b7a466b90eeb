// Reductions, softmaxes, casts and random numbers as they come in files of several opsets. Values
// from numpy or by hand.
#include <gtest/gtest.h>

#include <cmath>

#include "importers/onnx/model_builder_test.h"
#include "ir/node.h"

namespace npukit::importers::onnx {
namespace {

using tensor::DType;
using tensor::Value;
using T = pb::TensorProto;
using Numbers = std::vector<double>;
using Ints = std::vector<std::int64_t>;

Value Floats(tensor::Dims dims, std::vector<float> v) {
  return Value::FromVector(DType::kF32, std::move(dims), v);
}
Value Int64s(std::vector<std::int64_t> v) {
  return Value::FromVector(DType::kI64, {static_cast<std::int64_t>(v.size())}, v);
}

Value Computed(const ModelBuilder& b, const std::vector<Value>& inputs) {
  const auto imported = b.Import();
  EXPECT_TRUE(imported.ok()) << imported.status().message();
  if (!imported.ok()) return {};
  for (const ir::Node& n : imported->graph.nodes)
    EXPECT_FALSE(n.is_foreign()) << n.attrs.String(ir::kWhyForeign);
  const auto out = eval::Interpret(imported->graph, inputs);
  EXPECT_TRUE(out.ok()) << out.status().message();
  return out.ok() ? (*out)[0] : Value();
}

Numbers InOrder(const Value& y) {
  Numbers v;
  for (std::int64_t i = 0; y.present() && i < y.count(); ++i)
    v.push_back(tensor::ElementAsDouble(y, i));
  return v;
}

void ExpectNear(const Value& y, const Numbers& expected) {
  const Numbers got = InOrder(y);
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-6) << i;
}

TEST(Reductions, TakeAxesThatAreComputed) {
  const Value x = Floats({2, 3}, {1, 2, 3, -4, 5, 6});
  for (const auto& [op, expected] :
       std::vector<std::pair<std::string, Numbers>>{{"ReduceSum", {6, 7}},
                                                    {"ReduceMean", {2, 7.0 / 3}},
                                                    {"ReduceMax", {3, 6}},
                                                    {"ReduceMin", {1, -4}},
                                                    {"ReduceProd", {6, -120}},
                                                    {"ReduceL1", {6, 15}},
                                                    {"ReduceSumSquare", {14, 77}},
                                                    {"ReduceL2", {std::sqrt(14), std::sqrt(77)}},
                                                    {"ReduceLogSum", {std::log(6), std::log(7)}}}) {
    SCOPED_TRACE(op);
    ModelBuilder b;
    b.Input("x", "2,3").Input("a", "1", T::INT64).Node(op, {"x", "a"}, {"y"}).Output("y");
    b.Attr("keepdims", std::int64_t{0});
    ExpectNear(Computed(b, {x, Int64s({-1})}), expected);
  }
}

TEST(Reductions, OfNoAxesThatAreComputed) {
  const Value x = Floats({2}, {3, -4});
  for (const bool noop : {false, true}) {
    ModelBuilder b;
    b.Input("x", "2").Input("a", "N", T::INT64).Node("ReduceSumSquare", {"x", "a"}, {"y"});
    b.Attr("noop_with_empty_axes", std::int64_t{noop}).Output("y");
    EXPECT_EQ(InOrder(Computed(b, {x, Int64s({})})), noop ? (Numbers{9, 16}) : Numbers{25});
  }
}

TEST(Reductions, OfIntegersAreCut) {
  for (const auto& [op, expected] : std::vector<std::pair<std::string, double>>{
           {"ReduceL2", 4}, {"ReduceLogSum", 1}, {"ReduceLogSumExp", 4}}) {
    ModelBuilder b;
    b.Input("x", "2", T::INT32).Node(op, {"x"}, {"y"}).Output("y");
    const Value y = Computed(b, {Value::FromVector(DType::kI32, {2}, std::vector<int>{4, 2})});
    EXPECT_EQ(y.dtype(), DType::kI32) << op;
    EXPECT_EQ(InOrder(y), Numbers{expected}) << op;
  }
}

TEST(Softmax, RanOverTheRestBeforeOpset13) {
  const Value x = Floats({1, 2, 2}, {0, 1, 2, 3});
  const Numbers soft{0.0320586, 0.08714432, 0.23688282, 0.64391426};
  for (const char* dims : {"1,2,2", "-"}) {
    SCOPED_TRACE(dims);
    for (const char* op : {"Softmax", "LogSoftmax", "Hardmax"}) {
      SCOPED_TRACE(op);
      ModelBuilder b(11);
      b.Input("x", dims).Node(op, {"x"}, {"y"}).Attr("axis", std::int64_t{1}).Output("y");
      Numbers expected = soft;
      if (std::string(op) == "LogSoftmax") {
        for (double& v : expected) v = std::log(v);
      } else if (std::string(op) == "Hardmax") {
        expected = {0, 0, 0, 1};
      }
      const Value y = Computed(b, {x});
      EXPECT_EQ(y.type().ToString(), "fp32[1, 2, 2]");
      ExpectNear(y, expected);
    }
  }
}

TEST(Mean, OfAnyNumberOfInputs) {
  ModelBuilder b;
  b.Input("x", "2").Input("y", "2").Input("z", "2").Node("Mean", {"x", "y", "z"}, {"m"});
  b.Output("m");
  EXPECT_EQ(InOrder(Computed(b, {Floats({2}, {1, 5}), Floats({2}, {3, 2}), Floats({2}, {-1, 5})})),
            (Numbers{1, 4}));
}

TEST(MeanVarianceNormalization, IsPerChannelUnlessAxesAreNamed) {
  const Value x = Floats({1, 1, 2, 2}, {1, 2, 3, 10});
  const Numbers expected{-0.84852814, -0.56568542, -0.28284271, 1.69705627};
  for (const bool named : {false, true}) {
    ModelBuilder b;
    b.Input("x", "1,1,2,2").Node("MeanVarianceNormalization", {"x"}, {"y"}).Output("y");
    if (named) b.Attr("axes", Ints{2, 3});
    ExpectNear(Computed(b, {x}), expected);
  }
}

TEST(Swish, ScalesInsideTheSigmoid) {
  ModelBuilder b(24);
  b.Input("x", "2").Node("Swish", {"x"}, {"y"}).Attr("alpha", 0.5f).Output("y");
  ExpectNear(Computed(b, {Floats({2}, {2, -1})}), {1.46211716, -0.37754067});
}

TEST(Clip, KeepsLimitsThatFp32CannotHold) {
  ModelBuilder b;
  b.Input("x", "2", T::INT64).Ints("lo", {(1 << 24) + 1}).Node("Clip", {"x", "lo"}, {"y"});
  b.Output("y");
  EXPECT_EQ(InOrder(Computed(b, {Int64s({0, 1 << 25})})), (Numbers{(1 << 24) + 1, 1 << 25}));
}

TEST(CastLike, TakesTheTypeOfItsSecondInput) {
  ModelBuilder b(19);
  b.Input("x", "2").Input("like", "0", T::FLOAT8E4M3FN).Node("CastLike", {"x", "like"}, {"y"});
  b.Attr("saturate", std::int64_t{1}).Output("y");
  const Value y = Computed(
      b, {Floats({2}, {1000, 0.5}), Value::FromVector(DType::kF8E4M3FN, {0}, std::vector<char>{})});
  EXPECT_EQ(y.dtype(), DType::kF8E4M3FN);
  EXPECT_EQ(InOrder(y), (Numbers{448, 0.5}));
}

TEST(CastLike, WaitsForATypeThatIsNotKnownYet) {
  ModelBuilder b(19);
  b.Input("x", "2").Node("NoSuchOperator", {"x"}, {"like"}).Node("CastLike", {"x", "like"}, {"y"});
  b.Output("y");
  const auto r = b.Import();
  ASSERT_TRUE(r.ok()) << r.status().message();
  EXPECT_EQ(r->graph.nodes[1].op, &op::cast_like);
}

TEST(Cast, RefusesComplexNumbersByName) {
  ModelBuilder b;
  b.Input("x", "2").Node("Cast", {"x"}, {"y"});
  b.Attr("to", std::int64_t{T::COMPLEX64}).Output("y");
  const auto r = b.Import();
  ASSERT_TRUE(r.ok()) << r.status().message();
  ASSERT_TRUE(r->graph.nodes[0].is_foreign());
  EXPECT_EQ(r->graph.nodes[0].attrs.String(ir::kWhyForeign),
            "complex numbers cannot be cast, found complex64");
}

TEST(Constants, OfTypesOfTwoAndFourBitsArePacked) {
  struct Case {
    int type;
    std::vector<int> bytes;
    Numbers expected;
  };
  for (const Case& c : std::vector<Case>{{T::INT4, {0x8f, 0x07}, {-1, -8, 7}},
                                         {T::UINT4, {0x8f, 0x07}, {15, 8, 7}},
                                         {T::INT2, {0x1b}, {-1, -2, 1}},
                                         {T::UINT2, {0x1b}, {3, 2, 1}},
                                         {T::FLOAT4E2M1, {0xf2, 0x03}, {1, -6, 1.5}}}) {
    for (const bool raw : {false, true}) {
      ModelBuilder b(25);
      auto* t = b.graph().add_initializer();
      t->set_name("c");
      t->set_data_type(c.type);
      t->add_dims(3);
      for (const int byte : c.bytes) {
        if (raw) {
          t->mutable_raw_data()->push_back(static_cast<char>(byte));
        } else {
          t->add_int32_data(byte);
        }
      }
      b.Node("Cast", {"c"}, {"y"}).Attr("to", std::int64_t{T::FLOAT}).Output("y");
      EXPECT_EQ(InOrder(Computed(b, {})), c.expected) << c.type << " raw " << raw;
    }
  }
}

TEST(Random, TwoNodesWithoutASeedDrawDifferently) {
  ModelBuilder b;
  b.Node("RandomUniform", {}, {"a"}).Attr("shape", Ints{8}).Node("RandomUniform", {}, {"b"});
  b.Attr("shape", Ints{8}).Node("Sub", {"a", "b"}, {"y"}).Output("y");
  for (const double d : InOrder(Computed(b, {}))) EXPECT_NE(d, 0);
}

// Means and deviations of many draws; five standard errors are allowed.
TEST(Random, DrawsAreDistributedAsNamed) {
  constexpr int kDraws = 40000;
  const auto moments = [](const Value& y) {
    double mean = 0, square = 0;
    for (const double v : InOrder(y)) {
      mean += v / kDraws;
      square += v * v / kDraws;
    }
    return std::pair(mean, std::sqrt(square - mean * mean));
  };
  ModelBuilder normal;
  normal.Input("x", "200,200").Node("RandomNormalLike", {"x"}, {"y"}).Output("y");
  normal.Attr("mean", 2.0f).Attr("scale", 3.0f).Attr("seed", 1.5f);
  const Value x = Floats({200, 200}, std::vector<float>(kDraws, 0.25f));
  const auto [mean, deviation] = moments(Computed(normal, {x}));
  EXPECT_NEAR(mean, 2, 5 * 3 / std::sqrt(kDraws));
  EXPECT_NEAR(deviation, 3, 5 * 3 / std::sqrt(2.0 * kDraws));
  ModelBuilder coin;
  coin.Input("x", "200,200").Node("Bernoulli", {"x"}, {"y"}).Output("y");
  EXPECT_NEAR(moments(Computed(coin, {x})).first, 0.25, 5 * std::sqrt(0.1875 / kDraws));
}

}  // namespace
}  // namespace npukit::importers::onnx
