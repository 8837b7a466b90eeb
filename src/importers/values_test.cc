#include "importers/onnx/values.h"

#include <gtest/gtest.h>

#include "importers/onnx/model_builder_test.h"

namespace npukit::importers::onnx {
namespace {

using tensor::DType;
using tensor::Type;
using tensor::Value;

const Type kF32 = Type::Tensor(DType::kF32, std::nullopt);

std::string Tensor(const std::vector<float>& v) {
  pb::TensorProto t;
  ModelBuilder::SetFloats(&t, {static_cast<std::int64_t>(v.size())}, v);
  return t.SerializeAsString();
}

// A field of SequenceProto or OptionalProto: both number their kinds of elements alike.
std::string Field(int number, const std::string& bytes) {
  EXPECT_LT(bytes.size(), 128u);
  return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(bytes.size())} + bytes;
}
std::string ElementType(int kind) { return {static_cast<char>(2 << 3), static_cast<char>(kind)}; }

Result<Value> Read(const std::string& bytes, const Type& type, const ImportLimits& limits = {}) {
  testing::FakeEnv env;
  const auto* p = reinterpret_cast<const std::byte*>(bytes.data());
  env.Put("input_0.pb", {p, p + bytes.size()});
  return ReadValueFile(env, "input_0.pb", type, limits);
}

std::vector<float> Numbers(const Value& v) { return {v.as<float>().begin(), v.as<float>().end()}; }

TEST(ValueFile, HoldsATensor) {
  const auto v = Read(Tensor({1, 2}), kF32);
  ASSERT_TRUE(v.ok()) << v.status().message();
  EXPECT_EQ(Numbers(*v), (std::vector<float>{1, 2}));
}

TEST(ValueFile, HoldsASequenceOfAnyLength) {
  const Type type = Type::Sequence(kF32);
  const auto two = Read(ElementType(1) + Field(3, Tensor({1})) + Field(3, Tensor({2, 3})), type);
  ASSERT_TRUE(two.ok()) << two.status().message();
  ASSERT_EQ(two->items().size(), 2u);
  EXPECT_EQ(Numbers(two->items()[1]), (std::vector<float>{2, 3}));
  const auto none = Read(ElementType(1), type);
  ASSERT_TRUE(none.ok());
  EXPECT_TRUE(none->is_sequence() && none->items().empty());
}

TEST(ValueFile, HoldsAnOptionalFullOrEmpty) {
  const auto full = Read(ElementType(1) + Field(3, Tensor({4})), Type::Optional(kF32));
  ASSERT_TRUE(full.ok()) << full.status().message();
  ASSERT_NE(full->optional_item(), nullptr);
  EXPECT_EQ(Numbers(*full->optional_item()), (std::vector<float>{4}));
  const auto empty = Read(ElementType(0), Type::Optional(kF32));
  ASSERT_TRUE(empty.ok());
  EXPECT_TRUE(empty->is_optional() && empty->optional_item() == nullptr);
  const std::string sequence = ElementType(1) + Field(3, Tensor({5}));
  const auto nested =
      Read(ElementType(3) + Field(5, sequence), Type::Optional(Type::Sequence(kF32)));
  ASSERT_TRUE(nested.ok()) << nested.status().message();
  EXPECT_EQ(nested->optional_item()->items().size(), 1u);
}

TEST(ValueFile, ThatIsBrokenOrOfAnotherKindIsRefused) {
  const Type sequence = Type::Sequence(kF32);
  EXPECT_EQ(Read("\xFF\xFF", kF32).status().code(), Code::kDataCorrupt);
  EXPECT_EQ(Read(Field(3, Tensor({1})).substr(0, 5), sequence).status().code(), Code::kDataCorrupt);
  EXPECT_EQ(Read(std::string("\x1A\xFF\xFF\xFF\xFF\x0F", 6), sequence).status().code(),
            Code::kDataCorrupt);  // longer than the file
  EXPECT_EQ(Read(Field(5, ""), sequence).status().code(), Code::kDataCorrupt);
  EXPECT_EQ(Read(Field(6, ""), sequence).status().code(), Code::kUnsupported);  // a map
  EXPECT_EQ(
      Read(Field(3, Tensor({1})) + Field(3, Tensor({1})), Type::Optional(kF32)).status().code(),
      Code::kDataCorrupt);
  Type deep = kF32;
  for (int i = 0; i < 200; ++i) deep = Type::Sequence(deep);
  std::string bytes;
  for (int i = 0; i < 60; ++i) bytes = Field(5, bytes);
  ImportLimits limits;
  EXPECT_TRUE(Read(bytes, deep, limits).ok());
  limits.max_nesting = 60;
  EXPECT_EQ(Read(bytes, deep, limits).status().code(), Code::kResourceExhausted);
}

Result<Face> FaceOf(const ModelBuilder& b) {
  testing::FakeEnv env;
  const std::string bytes = b.model.SerializeAsString();
  const auto* p = reinterpret_cast<const std::byte*>(bytes.data());
  env.Put("model.onnx", {p, p + bytes.size()});
  return ReadFace(env, "model.onnx", {});
}

TEST(Face, ListsInputsWithDefaultsAndOutputs) {
  ModelBuilder b;
  b.Input("w", "2").Input("x", "N,2").Floats("w", {2}, {1, 2}).Node("Add", {"x", "w"}, {"y"});
  b.Output("y");
  const auto face = FaceOf(b);
  ASSERT_TRUE(face.ok()) << face.status().message();
  ASSERT_EQ(face->inputs.size(), 2u);
  EXPECT_TRUE(face->inputs[0].has_default);
  EXPECT_FALSE(face->inputs[1].has_default);
  EXPECT_EQ(face->inputs[1].type.ToString(), "fp32[N, 2]");
  EXPECT_EQ(face->outputs[0].name, "y");
  EXPECT_TRUE(face->random.empty());
}

TEST(Face, FindsWhatDrawsRandomNumbersInBodiesToo) {
  ModelBuilder b;
  b.Input("c", "", pb::TensorProto::BOOL).Node("If", {"c"}, {"y"}).Output("y");
  auto* inner = b.AddAttr("then_branch", pb::AttributeProto::GRAPH).mutable_g()->add_node();
  inner->set_op_type("RandomNormal");
  const auto face = FaceOf(b);
  ASSERT_TRUE(face.ok());
  ASSERT_EQ(face->random.size(), 1u);
  EXPECT_EQ(face->random[0].op, "RandomNormal");
}

TEST(Face, DropoutDrawsWhenItMayTrain) {
  const auto dropout = [](int opset, const std::vector<std::string>& inputs) {
    ModelBuilder b(opset);
    b.Input("x", "2").Input("r", "").Input("t", "", pb::TensorProto::BOOL);
    b.Node("Dropout", inputs, {"y"}).Output("y");
    return FaceOf(b)->random;
  };
  EXPECT_TRUE(dropout(13, {"x", "r"}).empty());
  EXPECT_TRUE(dropout(10, {"x"}).empty());
  const auto training = dropout(13, {"x", "r", "t"});
  ASSERT_EQ(training.size(), 1u);
  EXPECT_EQ(training[0].training, "t");
  EXPECT_EQ(training[0].ratio, "r");
  EXPECT_EQ(dropout(6, {"x"}).size(), 1u);  // is_test is not set
}

}  // namespace
}  // namespace npukit::importers::onnx
