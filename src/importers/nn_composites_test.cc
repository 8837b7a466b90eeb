// Neural-network operators of ONNX that become a few of ours: what they compute. Values worked out
// by hand from the ONNX specification.
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
using Named = std::vector<std::pair<const char*, float>>;

Value Floats(tensor::Dims dims, std::vector<float> v) {
  return Value::FromVector(DType::kF32, std::move(dims), v);
}

// All outputs, one after the other, as numbers.
Numbers Computed(const ModelBuilder& b, const std::vector<Value>& inputs) {
  const auto imported = b.Import();
  EXPECT_TRUE(imported.ok()) << imported.status().message();
  if (!imported.ok()) return {};
  for (const ir::Node& n : imported->graph.nodes)
    EXPECT_FALSE(n.is_foreign()) << n.attrs.String(ir::kWhyForeign);
  const auto out = eval::Interpret(imported->graph, inputs);
  EXPECT_TRUE(out.ok()) << out.status().message();
  Numbers v;
  if (!out.ok()) return v;
  for (const Value& y : *out) {
    for (std::int64_t i = 0; i < y.count(); ++i) v.push_back(tensor::ElementAsDouble(y, i));
  }
  return v;
}

// Names of our operators, in order.
std::string Operators(const ModelBuilder& b) {
  const auto imported = b.Import();
  EXPECT_TRUE(imported.ok()) << imported.status().message();
  std::vector<std::string> names;
  if (imported.ok()) {
    for (const ir::Node& n : imported->graph.nodes)
      names.push_back(n.is_foreign() ? n.foreign_op : std::string(n.op->name));
  }
  return Join(names, " ");
}

const Value kLine = Floats({1, 1, 5}, {1, 2, 3, 4, 5});

TEST(OneDimension, RunsAsAnImageOfHeightOne) {
  ModelBuilder conv;
  conv.Input("x", "1,1,5").Floats("w", {1, 1, 3}, {1, 10, 100}).Floats("b", {1}, {0.5f});
  conv.Node("Conv", {"x", "w", "b"}, {"y"}).Attr("pads", Ints{1, 0}).Attr("strides", Ints{2});
  conv.Output("y");
  EXPECT_EQ(Operators(conv), "unsqueeze unsqueeze conv2d squeeze");
  EXPECT_EQ(Computed(conv, {kLine}), (Numbers{210.5, 432.5}));

  ModelBuilder spread;
  spread.Input("x", "1,1,2").Floats("w", {1, 1, 2}, {1, 10});
  spread.Node("ConvTranspose", {"x", "w"}, {"y"}).Attr("strides", Ints{2});
  spread.Attr("output_padding", Ints{1}).Output("y");
  EXPECT_EQ(Computed(spread, {Floats({1, 1, 2}, {1, 2})}), (Numbers{1, 10, 2, 20, 0}));

  ModelBuilder most;
  most.Input("x", "1,1,5").Node("MaxPool", {"x"}, {"y"}).Attr("kernel_shape", Ints{2});
  most.Attr("strides", Ints{2}).Attr("ceil_mode", std::int64_t{1}).Output("y");
  EXPECT_EQ(Operators(most), "unsqueeze max_pool2d squeeze");
  EXPECT_EQ(Computed(most, {kLine}), (Numbers{2, 4, 5}));

  ModelBuilder mean;
  mean.Input("x", "1,1,N").Node("AveragePool", {"x"}, {"y"}).Attr("kernel_shape", Ints{3});
  mean.Attr("pads", Ints{1, 1}).Output("y");
  EXPECT_EQ(Computed(mean, {kLine}), (Numbers{1.5, 2, 3, 4, 4.5}));

  ModelBuilder wrong;
  wrong.Input("x", "1,1,5").Node("MaxPool", {"x"}, {"p"}).Attr("kernel_shape", Ints{2});
  wrong.Attr("pads", Ints{1}).Output("p");
  const auto refused = wrong.Import();
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.status().message().find("pads has 1 numbers, expected 2"), std::string::npos)
      << refused.status().message();
}

TEST(ManyDimensions, RunByTheGeneralOperator) {
  ModelBuilder volume;
  volume.Input("x", "1,1,2,2,2").Floats("w", {1, 1, 2, 2, 2}, {1, 1, 1, 1, 1, 1, 1, 1});
  volume.Node("Conv", {"x", "w"}, {"y"}).Output("y");
  EXPECT_EQ(Operators(volume), "conv_nd");
  EXPECT_EQ(Computed(volume, {Floats({1, 1, 2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8})}), (Numbers{36}));

  ModelBuilder unknown;  // not even the rank
  unknown.Input("x", "-").Input("w", "-").Node("Conv", {"x", "w"}, {"y"}).Output("y");
  EXPECT_EQ(Computed(unknown, {kLine, Floats({1, 1, 2}, {1, 1})}), (Numbers{3, 5, 7, 9}));
  ModelBuilder whole;
  whole.Input("x", "-").Node("GlobalAveragePool", {"x"}, {"y"}).Output("y");
  EXPECT_EQ(Computed(whole, {kLine}), (Numbers{3}));
}

TEST(MaxPool, GivesIndicesWhereTheyAreRead) {
  ModelBuilder b;
  b.Input("x", "1,1,2,3").Node("MaxPool", {"x"}, {"y", "i"}).Attr("kernel_shape", Ints{2, 2});
  b.Attr("storage_order", std::int64_t{1}).Output("y").Output("i");
  // The largest are in row 1, column 0 and row 0, column 2; columns counted first.
  EXPECT_EQ(Computed(b, {Floats({1, 1, 2, 3}, {1, 2, 8, 9, 3, 4})}), (Numbers{9, 8, 1, 4}));
}

TEST(ConvTranspose, ReachesTheShapeAskedFor) {
  const auto model = [](const std::string& dims, Ints shape) {
    ModelBuilder b;
    b.Input("x", dims).Floats("w", {1, 1, 3}, {1, 10, 100});
    b.Node("ConvTranspose", {"x", "w"}, {"y"}).Attr("strides", Ints{2});
    b.Attr("output_shape", std::move(shape)).Output("y");
    return b;
  };
  const Value two = Floats({1, 1, 2}, {1, 2});  // 1 10 102 20 200 in full
  for (const char* dims : {"1,1,2", "1,1,N"}) {
    EXPECT_EQ(Computed(model(dims, {4}), {two}), (Numbers{10, 102, 20, 200})) << dims;
    EXPECT_EQ(Computed(model(dims, {3}), {two}), (Numbers{10, 102, 20})) << dims;
    EXPECT_EQ(Computed(model(dims, {7}), {two}), (Numbers{1, 10, 102, 20, 200, 0, 0})) << dims;
    EXPECT_EQ(Computed(model(dims, {1, 1, 4}), {two}), (Numbers{10, 102, 20, 200})) << dims;
  }
}

TEST(LayerNormalization, GivesStatisticsAndBroadcastsItsScale) {
  for (const std::int64_t axis : {-1, 1}) {
    ModelBuilder b;
    b.Input("x", "2,2")
        .Floats("s", {1}, {2})
        .Node("LayerNormalization", {"x", "s"}, {"y", "m", "d"});
    b.Attr("axis", axis).Attr("epsilon", 0.0f).Output("y").Output("m").Output("d");
    EXPECT_EQ(Computed(b, {Floats({2, 2}, {1, 3, 10, 18})}),
              (Numbers{-2, 2, -2, 2, 2, 14, 1, 0.25}));
  }
}

TEST(BatchNormalization, HasOtherForms) {
  ModelBuilder flat;  // one dimension: a batch of one channel
  flat.Input("x", "2");
  for (const auto& [name, v] : Named{{"s", 2.0f}, {"b", 1.0f}, {"m", 3.0f}, {"v", 4.0f}})
    flat.Floats(name, {1}, {v});
  flat.Node("BatchNormalization", {"x", "s", "b", "m", "v"}, {"y"}).Attr("epsilon", 0.0f);
  flat.Output("y");
  EXPECT_EQ(Computed(flat, {Floats({2}, {5, 3})}), (Numbers{3, 1}));

  ModelBuilder places(7);
  places.Input("x", "2,1,2");
  places.Floats("s", {1, 2}, {1, 2}).Floats("b", {1, 2}, {0, 1});
  places.Floats("m", {1, 2}, {1, 1}).Floats("v", {1, 2}, {4, 1});
  places.Node("BatchNormalization", {"x", "s", "b", "m", "v"}, {"y"}).Attr("epsilon", 0.0f);
  places.Attr("spatial", std::int64_t{0}).Output("y");
  EXPECT_EQ(Computed(places, {Floats({2, 1, 2}, {3, 3, 5, 0})}), (Numbers{1, 5, 2, -1}));

  ModelBuilder training;
  training.Input("x", "2,1");
  for (const auto& [name, v] : Named{{"s", 1.0f}, {"b", 0.0f}, {"m", 1.0f}, {"v", 1.0f}})
    training.Floats(name, {1}, {v});
  training.Node("BatchNormalization", {"x", "s", "b", "m", "v"}, {"y", "rm", "rv"});
  training.Attr("epsilon", 0.0f).Attr("momentum", 0.5f).Attr("training_mode", std::int64_t{1});
  training.Output("y").Output("rm").Output("rv");
  EXPECT_EQ(Computed(training, {Floats({2, 1}, {1, 5})}), (Numbers{-1, 1, 2, 2.5}));
}

TEST(Dropout, IsNothingInInferenceAndKeepsAll) {
  for (const int opset : {7, 10, 12, 22}) {
    ModelBuilder b(opset);
    b.Input("x", "3").Node("Dropout", {"x"}, {"y", "mask"}).Output("y").Output("mask");
    EXPECT_EQ(Computed(b, {Floats({3}, {1, 2, 3})}), (Numbers{1, 2, 3, 1, 1, 1})) << opset;
  }
}

// Judged by what must hold: half of many elements is dropped, the rest doubled; the mask says
// which.
TEST(Dropout, DropsAndScalesInTraining) {
  for (const bool known : {true, false}) {  // training_mode
    ModelBuilder b;
    b.Input("x", "1000").Floats("r", {}, {0.5f});
    if (known) {
      auto* t = b.graph().add_initializer();
      t->set_name("t");
      t->set_data_type(T::BOOL);
      t->add_int32_data(1);
    } else {
      b.Input("t", "", T::BOOL);
    }
    b.Node("Dropout", {"x", "r", "t"}, {"y", "mask"}).Output("y").Output("mask");
    auto on = Value::Allocate(DType::kBool, {}).value();
    tensor::StoreDouble(on, 0, 1);
    auto off = Value::Allocate(DType::kBool, {}).value();
    tensor::StoreDouble(off, 0, 0);
    const Value x = Floats({1000}, std::vector<float>(1000, 3));
    const Numbers v = Computed(b, known ? std::vector{x} : std::vector{x, on});
    ASSERT_EQ(v.size(), 2000u);
    double kept = 0;
    for (std::size_t i = 0; i < 1000; ++i) {
      EXPECT_EQ(v[i], v[1000 + i] != 0 ? 6 : 0);
      kept += v[1000 + i];
    }
    EXPECT_NEAR(kept, 500, 80);  // five standard deviations
    if (known) continue;
    for (const double all : Computed(b, {x, off})) EXPECT_TRUE(all == 3 || all == 1);
  }
}

TEST(Gemm, ScalesIntegers) {
  ModelBuilder b;
  b.Input("a", "1,2", T::INT32).Input("b", "2,1", T::INT32).Input("c", "", T::INT32);
  b.Node("Gemm", {"a", "b", "c"}, {"y"}).Attr("alpha", 2.0f).Attr("beta", -0.5f).Output("y");
  const auto ints = [](tensor::Dims dims, std::vector<std::int32_t> v) {
    return Value::FromVector(DType::kI32, std::move(dims), v);
  };
  EXPECT_EQ(Computed(b, {ints({1, 2}, {3, 4}), ints({2, 1}, {5, 6}), ints({}, {10})}),
            (Numbers{73}));
}

}  // namespace
}  // namespace npukit::importers::onnx
