// Operators of ONNX that become a few of ours: what they compute. Values worked out by hand from
// the ONNX specification.
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

std::string OutputType(const ModelBuilder& b) {
  const auto r = b.Import();
  EXPECT_TRUE(r.ok()) << r.status().message();
  return r.ok() ? r->graph.value(r->graph.outputs[0]).type.ToString() : "";
}

ir::ForeignReason WhyNot(const ModelBuilder& b) {
  const auto r = b.Import();
  EXPECT_TRUE(r.ok()) << r.status().message();
  if (r.ok()) {
    for (const ir::Node& n : r->graph.nodes) {
      if (n.is_foreign()) return ir::WhyForeign(n);
    }
  }
  return {};
}

const Value kSeven = Floats({7}, {0, 1, 2, 3, 4, 5, 6});

TEST(Split, GivesEqualPartsAndAShorterLastOne) {
  for (const char* length : {"7", "N"}) {  // known when importing, or only when running
    ModelBuilder b;
    b.Input("x", length).Node("Split", {"x"}, {"a", "b", "c"});
    b.Attr("num_outputs", std::int64_t{3}).Output("c").Output("a").Output("b");
    EXPECT_EQ(Computed(b, {kSeven}), (Numbers{6, 0, 1, 2, 3, 4, 5})) << length;
  }
}

TEST(Split, TakesSizesFromAnInputOrAnAttribute) {
  ModelBuilder b;
  b.Input("x", "2,3").Ints("s", {1, 2}).Node("Split", {"x", "s"}, {"a", "b"});
  b.Attr("axis", std::int64_t{-1}).Output("b").Output("a");
  EXPECT_EQ(Computed(b, {Floats({2, 3}, {0, 1, 2, 3, 4, 5})}), (Numbers{1, 2, 4, 5, 0, 3}));
  ModelBuilder old(11);
  old.Input("x", "7").Node("Split", {"x"}, {"a", "b"});
  old.Attr("split", Ints{3, 4}).Output("b").Output("a");
  EXPECT_EQ(Computed(old, {kSeven}), (Numbers{3, 4, 5, 6, 0, 1, 2}));
}

TEST(Split, CountsOutputsThatNobodyReads) {
  ModelBuilder b(13);
  b.Input("x", "7").Node("Split", {"x"}, {"a", "b", "c"}).Output("a");
  b.model.mutable_graph()
      ->mutable_input(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(0)
      ->set_dim_value(6);
  EXPECT_EQ(Computed(b, {Floats({6}, {0, 1, 2, 3, 4, 5})}), (Numbers{0, 1}));
}

TEST(Flatten, JoinsBeforeAndAfterTheAxis) {
  const auto flat = [](const char* dims, std::optional<std::int64_t> axis) {
    ModelBuilder b;
    b.Input("x", dims).Node("Flatten", {"x"}, {"y"}).Output("y");
    if (axis) b.Attr("axis", *axis);
    return OutputType(b);
  };
  EXPECT_EQ(flat("2,3,4,5", std::nullopt), "fp32[2, 60]");
  EXPECT_EQ(flat("2,3,4,5", 0), "fp32[1, 120]");
  EXPECT_EQ(flat("2,3,4,5", 3), "fp32[24, 5]");
  EXPECT_EQ(flat("2,3,4,5", -2), "fp32[6, 20]");
  EXPECT_EQ(flat("2,3", 2), "fp32[6, 1]");
  EXPECT_EQ(flat("", 0), "fp32[1, 1]");
  EXPECT_EQ(flat("N,3,4", std::nullopt), "fp32[N, 12]");
}

TEST(Variadic, TakesOneTwoOrMore) {
  for (const auto& [op, expected] : std::vector<std::pair<std::string, Numbers>>{
           {"Max", {3, 5}}, {"Min", {-1, 2}}, {"Sum", {3, 11}}}) {
    ModelBuilder b;
    b.Input("x", "2").Input("y", "2").Input("z", "2").Node(op, {"x", "y", "z"}, {"w"}).Output("w");
    EXPECT_EQ(Computed(b, {Floats({2}, {1, 5}), Floats({2}, {3, 2}), Floats({2}, {-1, 4})}),
              expected)
        << op;
    ModelBuilder one;
    one.Input("x", "2").Node(op, {"x"}, {"w"}).Output("w");
    EXPECT_EQ(Computed(one, {Floats({2}, {1, 5})}), (Numbers{1, 5})) << op;
  }
}

TEST(Reductions, OfNormsAndSquares) {
  const Value x = Floats({2, 2}, {3, -4, 0, 5});
  for (const auto& [op, expected] :
       std::vector<std::pair<std::string, Numbers>>{{"ReduceL1", {7, 5}},
                                                    {"ReduceL2", {5, 5}},
                                                    {"ReduceSumSquare", {25, 25}},
                                                    {"ReduceSum", {-1, 5}},
                                                    {"ReduceMax", {3, 5}},
                                                    {"ReduceMin", {-4, 0}},
                                                    {"ReduceMean", {-0.5, 2.5}}}) {
    for (const int opset : {11, 18}) {
      ModelBuilder b(opset);
      const bool input = opset == 18;
      b.Input("x", "2,2")
          .Ints("a", {1})
          .Node(op, input ? std::vector<std::string>{"x", "a"} : std::vector<std::string>{"x"},
                {"y"});
      if (!input) b.Attr("axes", Ints{1});
      b.Attr("keepdims", std::int64_t{0}).Output("y");
      EXPECT_EQ(Computed(b, {x}), expected) << op << " in opset " << opset;
    }
  }
}

TEST(Reductions, WithoutAxesMayDoNothing) {
  ModelBuilder b;
  b.Input("x", "2").Node("ReduceSumSquare", {"x"}, {"y"}).Output("y");
  b.Attr("noop_with_empty_axes", std::int64_t{1});
  EXPECT_EQ(Computed(b, {Floats({2}, {3, -4})}), (Numbers{9, 16}));
}

TEST(LogSoftmax, KeepsSmallProbabilities) {
  ModelBuilder b;
  b.Input("x", "2").Node("LogSoftmax", {"x"}, {"y"}).Output("y");
  const Numbers y = Computed(b, {Floats({2}, {0, 1000})});
  ASSERT_EQ(y.size(), 2u);
  EXPECT_EQ(y[0], -1000);
  EXPECT_EQ(y[1], 0);
}

TEST(Pad, ReadsTheListOfOldFiles) {
  ModelBuilder b(9);
  b.Input("x", "2").Node("Pad", {"x"}, {"y"}).Output("y");
  b.Attr("pads", Ints{1, 2}).Attr("value", 7.0f);
  EXPECT_EQ(Computed(b, {Floats({2}, {1, 2})}), (Numbers{7, 1, 2, 7, 7}));
}

TEST(Clip, TakesLimitsThatAreComputed) {
  ModelBuilder b;
  b.Input("x", "3").Input("hi", "").Floats("lo", {}, {0}).Node("Clip", {"x", "lo", "hi"}, {"y"});
  b.Output("y");
  EXPECT_EQ(Computed(b, {Floats({3}, {-1, 1, 9}), Value::Scalar(2.0f)}), (Numbers{0, 1, 2}));
}

TEST(GlobalPools, ReduceWhatIsSpatial) {
  for (const auto& [op, expected] : std::vector<std::pair<std::string, Numbers>>{
           {"GlobalMaxPool", {4, -1}}, {"GlobalAveragePool", {2.5, -2}}}) {
    ModelBuilder b;
    b.Input("x", "1,2,2,2").Node(op, {"x"}, {"y"}).Output("y");
    EXPECT_EQ(Computed(b, {Floats({1, 2, 2, 2}, {1, 2, 3, 4, -1, -1, -3, -3})}), expected);
    EXPECT_EQ(OutputType(b), "fp32[1, 2, 1, 1]");
  }
}

TEST(ConstantOfShape, TakesItsValueFromTheAttribute) {
  ModelBuilder b;
  b.Ints("s", {2}).Node("ConstantOfShape", {"s"}, {"y"});
  ModelBuilder::SetFloats(b.AddAttr("value", pb::AttributeProto::TENSOR).mutable_t(), {1}, {2.5f});
  b.Output("y");
  EXPECT_EQ(Computed(b, {}), (Numbers{2.5, 2.5}));
}

// npukit has the operator, but not so: the code says it, and the remedy what to do.
TEST(UnsupportedForm, IsNamedWithARemedy) {
  ModelBuilder old(7);  // before opset 14 the number of results said that a batch is learnt from
  old.Input("x", "2,1");
  for (const char* name : {"s", "b", "m", "v"}) old.Floats(name, {1}, {1});
  old.Node("BatchNormalization", {"x", "s", "b", "m", "v"}, {"y", "mean"}).Output("y");
  old.Output("mean");
  const ir::ForeignReason statistics = WhyNot(old);
  EXPECT_EQ(statistics.code, "unsupported_form");
  EXPECT_EQ(statistics.sentence,
            "npukit has BatchNormalization, but not in this form: the statistics of a batch are "
            "read outside training_mode.");
  EXPECT_NE(statistics.remedy.find("opset 14"), std::string::npos) << statistics.remedy;

  ModelBuilder nan(10);
  nan.Input("x", "2").Node("Clip", {"x"}, {"y"}).Attr("min", NAN).Output("y");
  EXPECT_EQ(WhyNot(nan).code, "unsupported_form");
  EXPECT_NE(WhyNot(nan).sentence.find("the limit min is NaN"), std::string::npos);

  ModelBuilder unknown;
  unknown.Input("x", "2").Node("Mystery", {"x"}, {"y"}).Output("y");
  EXPECT_EQ(WhyNot(unknown).code, "unknown_operator");
}

}  // namespace
}  // namespace npukit::importers::onnx
