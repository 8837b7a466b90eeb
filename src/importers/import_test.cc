// Good models: what they become. Expected values are worked out by hand unless a test says
// otherwise.
#include <gtest/gtest.h>

#include <cmath>

#include "base/text.h"
#include "importers/onnx/model_builder_test.h"
#include "importers/onnx/onnx.h"
#include "ir/node.h"

namespace npukit::importers::onnx {
namespace {

using tensor::DType;
using tensor::Value;
using T = pb::TensorProto;

std::vector<std::string> Ops(const ir::Graph& g) {
  std::vector<std::string> ops;
  for (const ir::Node& n : g.nodes) ops.emplace_back(n.op_name());
  return ops;
}

Value Floats(tensor::Dims dims, std::vector<float> v) {
  return Value::FromVector(DType::kF32, std::move(dims), v);
}

// The first output as numbers.
std::vector<double> Computed(const ModelBuilder& b, const std::vector<Value>& inputs = {}) {
  const auto imported = b.Import();
  EXPECT_TRUE(imported.ok()) << imported.status().message();
  if (!imported.ok()) return {};
  const auto out = eval::Interpret(imported->graph, inputs);
  EXPECT_TRUE(out.ok()) << out.status().message();
  std::vector<double> v;
  if (out.ok()) {
    for (std::int64_t i = 0; i < (*out)[0].count(); ++i)
      v.push_back(tensor::ElementAsDouble((*out)[0], i));
  }
  return v;
}
using Numbers = std::vector<double>;

std::string WhyForeign(const ModelBuilder& b) {
  const auto r = b.Import();
  if (!r.ok()) return "refused: " + r.status().message();
  for (const ir::Node& n : r->graph.nodes) {
    if (n.is_foreign()) return std::string(n.attrs.String(ir::kWhyForeign));
  }
  return "none";
}

TEST(Import, EveryNodeOfTheFileIsASourceNodeConstantsToo) {
  ModelBuilder b;
  b.Input("x", "1,2,4,4").Floats("w", {1, 2, 1, 1}, {1, 2});
  b.Node("Constant", {}, {"six"}).AddAttr("value_float", pb::AttributeProto::FLOAT).set_f(6);
  b.Node("Conv", {"x", "w"}, {"c"});
  b.last().set_name("first conv");
  b.Node("Clip", {"c", "", "six"}, {"y"}).Output("y");
  b.model.set_producer_name("me");
  auto* p = b.model.add_metadata_props();
  p->set_key("characters");
  p->set_value("abc");
  const auto r = b.Import();
  ASSERT_TRUE(r.ok()) << r.status().message();
  const ir::Graph& g = r->graph;
  ASSERT_EQ(g.source_nodes.size(), 3u);
  EXPECT_EQ(g.source_nodes[0].name, "Constant_0");
  EXPECT_EQ(g.source_nodes[1].name, "first conv");
  EXPECT_EQ(g.source_nodes[2].name, "Clip_2");
  EXPECT_EQ(g.source_nodes[2].op, "Clip");
  EXPECT_EQ(Ops(g), (std::vector<std::string>{"conv2d", "clip"}));
  EXPECT_EQ(g.nodes[0].from, (std::vector<std::uint32_t>{1}));
  EXPECT_EQ(g.nodes[1].from, (std::vector<std::uint32_t>{2}));
  EXPECT_EQ(g.nodes[1].attrs.Float("max"), 6);
  EXPECT_EQ(g.value(g.outputs[0]).type.ToString(), "fp32[1, 1, 4, 4]");
  EXPECT_EQ(r->format, "onnx");
  EXPECT_EQ(r->sha256.size(), 64u);
  using Pair = std::pair<std::string, std::string>;
  EXPECT_EQ(g.metadata,
            (std::vector<Pair>{
                {"producer", "me"}, {"ir_version", "10"}, {"opset", "21"}, {"characters", "abc"}}));
}

TEST(Import, DefaultValuesOfInputsBecomeConstants) {
  ModelBuilder b;
  b.Input("x", "2")
      .Input("k", "2")
      .Floats("k", {2}, {3, 4})
      .Node("Mul", {"x", "k"}, {"y"})
      .Output("y");
  const auto r = b.Import();
  ASSERT_TRUE(r.ok()) << r.status().message();
  EXPECT_EQ(r->graph.inputs.size(), 1u);
  EXPECT_EQ(Computed(b, {Floats({2}, {1, 2})}), (Numbers{3, 8}));
}

TEST(Import, ReadsEveryFormOfConstant) {
  const auto value = [](auto set) {
    ModelBuilder b;
    b.Node("Constant", {}, {"y"});
    set(*b.last().add_attribute());
    b.Output("y");
    const auto r = b.Import();
    EXPECT_TRUE(r.ok()) << r.status().message();
    return r.ok() ? *r->graph.constant(r->graph.outputs[0]) : Value();
  };
  const auto typed = [](pb::AttributeProto& a, const char* name,
                        pb::AttributeProto::AttributeType t) {
    a.set_name(name);
    a.set_type(t);
  };
  EXPECT_EQ(value([&](auto& a) { typed(a, "value_int", pb::AttributeProto::INT), a.set_i(-5); })
                .type()
                .ToString(),
            "int64[]");
  EXPECT_EQ(
      value([&](auto& a) { typed(a, "value_float", pb::AttributeProto::FLOAT), a.set_f(2.5f); })
          .type()
          .ToString(),
      "fp32[]");
  const Value ints = value([&](auto& a) {
    typed(a, "value_ints", pb::AttributeProto::INTS), a.add_ints(7), a.add_ints(-8);
  });
  EXPECT_EQ(tensor::ToInt64s(ints), (std::vector<std::int64_t>{7, -8}));
  EXPECT_EQ(
      value([&](auto& a) { typed(a, "value_floats", pb::AttributeProto::FLOATS), a.add_floats(1); })
          .type()
          .ToString(),
      "fp32[1]");
  const Value s =
      value([&](auto& a) { typed(a, "value_string", pb::AttributeProto::STRING), a.set_s("hi"); });
  EXPECT_EQ(s.strings(), std::vector<std::string>{"hi"});
  EXPECT_EQ(value([&](auto& a) {
              typed(a, "value_strings", pb::AttributeProto::STRINGS), a.add_strings("a"),
                  a.add_strings("b");
            })
                .strings()
                .size(),
            2u);
  const Value t = value([&](auto& a) {
    typed(a, "value", pb::AttributeProto::TENSOR);
    ModelBuilder::SetFloats(a.mutable_t(), {1, 2}, {1, 2});
  });
  EXPECT_EQ(t.type().ToString(), "fp32[1, 2]");
}

TEST(Import, ReadsEveryElementTypeRawAndTyped) {
  struct Case {
    T::DataType type;
    const char* name;
    std::string raw;          // two elements: 1 and the largest small pattern, little-endian
    std::vector<int> int32s;  // the same in int32_data, where ONNX stores it there
    double first, second;
  };
  using namespace std::string_literals;
  const std::vector<Case> cases{
      {T::INT8, "int8", "\x01\xFE"s, {1, -2}, 1, -2},
      {T::UINT8, "uint8", "\x01\xFE"s, {1, 254}, 1, 254},
      {T::INT16, "int16", "\x01\x00\xFE\xFF"s, {1, -2}, 1, -2},
      {T::UINT16, "uint16", "\x01\x00\xFE\xFF"s, {1, 65534}, 1, 65534},
      {T::INT32, "int32", "\x01\0\0\0\xFE\xFF\xFF\xFF"s, {1, -2}, 1, -2},
      {T::BOOL, "bool", "\x01\x00"s, {1, 0}, 1, 0},
      {T::FLOAT16, "fp16", "\x00\x3C\x00\xC0"s, {0x3C00, 0xC000}, 1, -2},
      {T::BFLOAT16, "bf16", "\x80\x3F\x00\xC0"s, {0x3F80, 0xC000}, 1, -2},
      {T::FLOAT8E4M3FN, "", "\x38\xC0"s, {0x38, 0xC0}, 1, -2},
      {T::FLOAT8E5M2, "", "\x3C\xC0"s, {0x3C, 0xC0}, 1, -2},
      {T::INT4, "int4", "\xE1"s, {0xE1}, 1, -2},
      {T::UINT4, "uint4", "\xE1"s, {0xE1}, 1, 14},
      {T::FLOAT4E2M1, "", "\xC2"s, {0xC2}, 1, -2},
      {T::UINT32, "uint32", "\x01\0\0\0\xFE\xFF\xFF\xFF"s, {}, 1, 4294967294.0},
      {T::INT64, "int64", "\x01\0\0\0\0\0\0\0\xFE\xFF\xFF\xFF\xFF\xFF\xFF\xFF"s, {}, 1, -2},
      {T::DOUBLE, "fp64", "\0\0\0\0\0\0\xF0\x3F\0\0\0\0\0\0\0\xC0"s, {}, 1, -2},
  };
  for (const Case& c : cases) {
    for (const bool raw : {true, false}) {
      if (!raw && c.int32s.empty()) continue;
      SCOPED_TRACE(Cat(static_cast<int>(c.type), raw ? " raw" : " typed"));
      ModelBuilder b;
      auto* t = b.graph().add_initializer();
      t->set_name("y");
      t->set_data_type(c.type);
      t->add_dims(2);
      if (raw) t->set_raw_data(c.raw);
      for (const int x : raw ? std::vector<int>{} : c.int32s) t->add_int32_data(x);
      b.Output("y");
      const auto r = b.Import();
      ASSERT_TRUE(r.ok()) << r.status().message();
      const Value& v = *r->graph.constant(r->graph.outputs[0]);
      if (c.name[0] != '\0') {
        EXPECT_EQ(tensor::DTypeName(v.dtype()), c.name);
      }
      EXPECT_EQ(tensor::ElementAsDouble(v, 0), c.first);
      EXPECT_EQ(tensor::ElementAsDouble(v, 1), c.second);
    }
  }
}

TEST(Import, KeepsSymbolsSequencesAndOptionals) {
  ModelBuilder b;
  b.Input("x", "N,?,3");
  auto* s = b.graph().add_input();
  s->set_name("s");
  ModelBuilder::SetType(s->mutable_type()->mutable_sequence_type()->mutable_elem_type(), T::INT64,
                        "-");
  auto* o = b.graph().add_input();
  o->set_name("o");
  ModelBuilder::SetType(o->mutable_type()->mutable_optional_type()->mutable_elem_type(), T::FLOAT,
                        "M");
  b.Node("Relu", {"x"}, {"y"}).Node("Identity", {"s"}, {"t"}).Output("y").Output("t");
  const auto r = b.Import();
  ASSERT_TRUE(r.ok()) << r.status().message();
  const ir::Graph& g = r->graph;
  EXPECT_EQ(g.value(g.inputs[0]).type.ToString(), "fp32[N, ?, 3]");
  EXPECT_TRUE(g.value(g.inputs[1]).type.kind == tensor::Type::Kind::kSequence);
  EXPECT_TRUE(g.value(g.inputs[2]).type.kind == tensor::Type::Kind::kOptional);
  EXPECT_EQ(g.value(g.outputs[0]).type.ToString(), "fp32[N, ?, 3]");
  EXPECT_EQ(g.value(g.outputs[1]).type, g.value(g.inputs[1]).type);
}

TEST(Import, KeepsUnknownOperatorsAsForeignNodesWithDeclaredTypes) {
  ModelBuilder b;
  b.Input("x", "2,3")
      .Node("Mystery", {"x"}, {"m"})
      .Attr("level", std::int64_t{3})
      .Node("Relu", {"m"}, {"y"})
      .Output("y");
  auto* info = b.graph().add_value_info();
  info->set_name("m");
  ModelBuilder::SetType(info->mutable_type(), T::FLOAT, "2,5");
  const auto r = b.Import();
  ASSERT_TRUE(r.ok()) << r.status().message();
  const ir::Node& n = r->graph.nodes[0];
  EXPECT_TRUE(n.is_foreign());
  EXPECT_EQ(n.foreign_op, "Mystery");
  EXPECT_EQ(n.attrs.Int("level"), 3);
  EXPECT_EQ(n.attrs.String(ir::kWhyForeign), "no operator of this name");
  EXPECT_EQ(r->graph.value(r->graph.outputs[0]).type.ToString(), "fp32[2, 5]");
}

TEST(Import, SaysWhyANodeStaysForeign) {
  ModelBuilder domain;
  domain.Input("x", "2").Node("Relu", {"x"}, {"y"}).Output("y");
  domain.last().set_domain("com.example");
  EXPECT_EQ(WhyForeign(domain), "no operator of this name in the domain com.example");

  ModelBuilder exotic;  // Relu of today has no attribute
  exotic.Input("x", "2").Node("Relu", {"x"}, {"y"}).Attr("slope", 0.1f).Output("y");
  EXPECT_EQ(WhyForeign(exotic), "attribute slope is not supported");
}

TEST(Import, BodiesReadOuterValuesVisibly) {
  ModelBuilder b;
  b.Input("x", "2").Input("c", "", T::BOOL).Floats("k", {2}, {1, 2}).Node("Relu", {"x"}, {"r"});
  b.Node("If", {"c"}, {"y"});
  for (const char* branch : {"then_branch", "else_branch"}) {
    auto& a = b.AddAttr(branch, pb::AttributeProto::GRAPH);
    auto* n = a.mutable_g()->add_node();
    n->set_op_type("Add");
    n->add_input("r");
    n->add_input("k");
    n->add_output("z");
    a.mutable_g()->add_output()->set_name("z");
  }
  b.Output("y");
  const auto r = b.Import();
  ASSERT_TRUE(r.ok()) << r.status().message();
  const ir::Node& n = r->graph.nodes[1];
  ASSERT_EQ(n.bodies.size(), 2u);
  EXPECT_EQ(n.bodies[0].first, "then_branch");
  const ir::Graph& body = *n.bodies[0].second;
  ASSERT_EQ(body.nodes.size(), 1u);
  EXPECT_EQ(body.inputs.size(), 1u);  // r; the constant k is shared instead
  EXPECT_EQ(body.value(body.outputs[0]).type.ToString(), "fp32[2]");
  // c, then r for each body
  EXPECT_EQ(n.inputs.size(), 3u);
  EXPECT_EQ(n.inputs[1], r->graph.nodes[0].outputs[0]);
}

TEST(Import, ShapeArithmeticResolvesWhenInputsAreFixed) {
  ModelBuilder b;  // flatten all but the batch, as PyTorch and Paddle write it
  b.Input("x", "N,3,H,4").Node("Shape", {"x"}, {"s"});
  b.Node("Cast", {"s"}, {"s32"}).Attr("to", std::int64_t{T::INT32});
  b.Ints("zero", {0}).Ints("one", {1}).Node("Slice", {"s32", "zero", "one"}, {"n32"});
  b.Node("Cast", {"n32"}, {"n"}).Attr("to", std::int64_t{T::INT64});
  b.Ints("rest", {-1}).Node("Concat", {"n", "rest"}, {"shape"}).Attr("axis", std::int64_t{0});
  b.Node("Reshape", {"x", "shape"}, {"y"}).Output("y");
  const auto symbolic = b.Import();
  ASSERT_TRUE(symbolic.ok()) << symbolic.status().message();
  EXPECT_EQ(symbolic->graph.value(symbolic->graph.outputs[0]).type.ToString(), "fp32[?, ?]");
  const auto fixed = b.Import({.shapes = {{"x", {2, 3, 5, 4}}}, .limits = {}});
  ASSERT_TRUE(fixed.ok()) << fixed.status().message();
  EXPECT_EQ(fixed->graph.value(fixed->graph.outputs[0]).type.ToString(), "fp32[2, 60]");
}

TEST(SetInputShapes, BindsSymbolsEverywhereAndNamesContradictions) {
  ModelBuilder b;
  b.Input("a", "N,3")
      .Input("b", "N,M")
      .Node("Concat", {"a", "b"}, {"y"})
      .Attr("axis", std::int64_t{1})
      .Output("y");
  const auto import = [&](std::map<std::string, tensor::Dims> shapes) {
    return b.Import({.shapes = std::move(shapes), .limits = {}});
  };
  const auto bound = import({{"a", {2, 3}}});
  ASSERT_TRUE(bound.ok()) << bound.status().message();
  EXPECT_EQ(bound->graph.value(bound->graph.inputs[1]).type.ToString(), "fp32[2, M]");
  const auto message = [&](std::map<std::string, tensor::Dims> shapes) {
    const auto r = import(std::move(shapes));
    EXPECT_EQ(r.status().code(), Code::kInvalidArgument);
    return r.status().message();
  };
  EXPECT_EQ(message({{"z", {1}}}), "model.onnx: no input z; the model has a, b");
  EXPECT_EQ(message({{"a", {1}}}),
            "model.onnx: input a: shape [1] has rank 1, expected fp32[N, 3]");
  EXPECT_EQ(message({{"a", {2, 4}}}),
            "model.onnx: input a: shape [2, 4] contradicts fp32[N, 3] at dimension 1");
  EXPECT_EQ(message({{"a", {-1, 3}}}), "model.onnx: input a: shape [-1, 3] has a negative size");
  // Files name sizes alike that are not; the operator that wants them equal says so.
  EXPECT_NE(message({{"a", {2, 3}}, {"b", {4, 1}}}).find("(Concat)"), std::string::npos);
}

// --- Old signatures
// --------------------------------------------------------------------------------------------------

TEST(Upgrade, SoftmaxBefore13RunsOverTheRestAsOne) {
  const Value x = Floats({1, 2, 2}, {0, 0, 0, std::log(5.0f)});  // exp: 1 1 1 5
  const auto model = [](int opset, std::int64_t axis) {
    ModelBuilder b(opset);
    b.Input("x", "1,2,2").Node("Softmax", {"x"}, {"y"}).Attr("axis", axis).Output("y");
    return b;
  };
  const auto near = [](const Numbers& got, const Numbers& expected) {
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-6);
  };
  near(Computed(model(11, 1), {x}), {0.125, 0.125, 0.125, 0.625});
  near(Computed(model(11, 0), {x}), {0.125, 0.125, 0.125, 0.625});
  near(Computed(model(11, 2), {x}), {0.5, 0.5, 1.0 / 6, 5.0 / 6});
  near(Computed(model(11, -1), {x}), {0.5, 0.5, 1.0 / 6, 5.0 / 6});
  near(Computed(model(13, 1), {x}), {0.5, 1.0 / 6, 0.5, 5.0 / 6});
  EXPECT_EQ(Ops(model(9, 2).Import()->graph),
            std::vector<std::string>{"softmax"});  // the same as today's
}

TEST(Upgrade, AttributesBecomeInputs) {
  ModelBuilder slice(9);
  slice.Input("x", "4").Node("Slice", {"x"}, {"y"}).Attr("starts", std::vector<std::int64_t>{1});
  slice.Attr("ends", std::vector<std::int64_t>{-1})
      .Attr("axes", std::vector<std::int64_t>{0})
      .Output("y");
  EXPECT_EQ(Computed(slice, {Floats({4}, {1, 2, 3, 4})}), (Numbers{2, 3}));

  ModelBuilder reshape(1);
  reshape.model.set_ir_version(3);
  reshape.Input("x", "4")
      .Node("Reshape", {"x"}, {"y"})
      .Attr("shape", std::vector<std::int64_t>{2, -1})
      .Output("y");
  EXPECT_EQ(reshape.Import()->graph.value(reshape.Import()->graph.outputs[0]).type.ToString(),
            "fp32[2, 2]");

  ModelBuilder cast(1);
  cast.Input("x", "2").Node("Cast", {"x"}, {"y"}).Attr("to", "INT32").Output("y");
  EXPECT_EQ(Computed(cast, {Floats({2}, {1.9f, -1.9f})}), (Numbers{1, -1}));
}

TEST(Upgrade, ClipBefore11ClampsInfinityToTheLargestNumber) {
  ModelBuilder b(6);
  b.Input("x", "2").Node("Clip", {"x"}, {"y"}).Attr("min", 0.0f).Output("y");
  EXPECT_EQ(Computed(b, {Floats({2}, {-1, INFINITY})}),
            (Numbers{0, static_cast<double>(std::numeric_limits<float>::max())}));
}

TEST(Upgrade, OldBroadcastStartsAtAxis) {
  ModelBuilder b(6);
  b.Input("x", "1,2,2").Floats("k", {2}, {10, 20}).Node("Add", {"x", "k"}, {"y"});
  b.Attr("broadcast", std::int64_t{1}).Attr("axis", std::int64_t{1}).Output("y");
  EXPECT_EQ(Computed(b, {Floats({1, 2, 2}, {1, 2, 3, 4})}), (Numbers{11, 12, 23, 24}));
}

TEST(Upgrade, OldSlopesAreOnePerChannel) {
  ModelBuilder b(6);  // by hand: channel 0 times 10, channel 1 times 100
  b.Input("x", "1,2,2").Floats("s", {2}, {10, 100}).Node("PRelu", {"x", "s"}, {"y"}).Output("y");
  EXPECT_EQ(Computed(b, {Floats({1, 2, 2}, {-1, 2, -3, 4})}), (Numbers{-10, 2, -300, 4}));
}

TEST(Upgrade, UpsampleAndOldResizeRepeatPixels) {
  ModelBuilder attribute(7);
  attribute.Input("x", "1,1,1,2")
      .Node("Upsample", {"x"}, {"y"})
      .FloatsAttr("scales", {1, 1, 1, 2})
      .Output("y");
  EXPECT_EQ(Computed(attribute, {Floats({1, 1, 1, 2}, {3, 4})}), (Numbers{3, 3, 4, 4}));
  for (const char* op : {"Upsample", "Resize"}) {
    ModelBuilder b(op[0] == 'U' ? 9 : 10);
    b.Input("x", "1,1,1,2")
        .Floats("s", {4}, {1, 1, 1, 1.5})
        .Node(op, {"x", "s"}, {"y"})
        .Output("y");
    EXPECT_EQ(Computed(b, {Floats({1, 1, 1, 2}, {3, 4})}), (Numbers{3, 3, 4})) << op;
  }
}

TEST(Upgrade, OldNormalizationWithUnreadOutputs) {
  ModelBuilder b(7);
  b.Input("x", "1,1,1,2");
  for (const char* name : {"s", "b", "m", "v"}) b.Floats(name, {1}, {name[0] == 'v' ? 4.0f : 1.0f});
  b.Node("BatchNormalization", {"x", "s", "b", "m", "v"}, {"y", "m2", "v2", "m3", "v3"})
      .Attr("epsilon", 0.0f);
  b.Attr("momentum", 0.9f).Attr("spatial", std::int64_t{1}).Output("y");
  EXPECT_EQ(Computed(b, {Floats({1, 1, 1, 2}, {1, 5})}), (Numbers{1, 3}));
}

// --- Composites
// ------------------------------------------------------------------------------------------------------

TEST(Composite, GemmInAllItsForms) {
  const Value a = Floats({2, 1}, {1, 2});
  const auto gemm = [](bool trans_a, bool trans_b, float alpha, float beta,
                       std::vector<std::int64_t> c_dims, std::vector<float> c) {
    ModelBuilder b;
    b.Input("a", "2,1")
        .Floats("b",
                trans_b ? std::vector<std::int64_t>{2, trans_a ? 2 : 1}
                        : std::vector<std::int64_t>{trans_a ? 2 : 1, 2},
                trans_a ? std::vector<float>{3, 4, 5, 6} : std::vector<float>{3, 4});
    std::vector<std::string> in{"a", "b"};
    if (!c.empty()) {
      b.Floats("c", c_dims, c);
      in.push_back("c");
    }
    b.Node("Gemm", in, {"y"})
        .Attr("transA", std::int64_t{trans_a})
        .Attr("transB", std::int64_t{trans_b});
    b.Attr("alpha", alpha).Attr("beta", beta).Output("y");
    return b;
  };
  EXPECT_EQ(Computed(gemm(false, false, 1, 1, {}, {}), {a}), (Numbers{3, 4, 6, 8}));
  EXPECT_EQ(Computed(gemm(false, true, 1, 1, {2}, {10, 20}), {a}), (Numbers{13, 24, 16, 28}));
  EXPECT_EQ(Computed(gemm(true, false, 1, 1, {}, {}), {a}),
            (Numbers{13, 16}));  // [1 2] x [[3 4] [5 6]]
  EXPECT_EQ(Computed(gemm(true, true, 2, 1, {}, {}), {a}),
            (Numbers{22, 34}));  // 2 [1 2] x [[3 5] [4 6]]
  EXPECT_EQ(Computed(gemm(false, false, 2, 0.5, {2, 1}, {10, 20}), {a}), (Numbers{11, 13, 22, 26}));
  EXPECT_EQ(Computed(gemm(false, false, 1, 0.5, {2}, {10, 20}), {a}), (Numbers{8, 14, 11, 18}));
  const auto folded = gemm(false, true, 1, 1, {2}, {10, 20}).Import();
  ASSERT_TRUE(folded.ok());
  EXPECT_EQ(Ops(folded->graph),
            (std::vector<std::string>{"transpose", "matmul"}));  // the bias is matmul's own
}

TEST(Composite, GlobalAveragePoolDropoutAndReduceMean) {
  ModelBuilder pool;
  pool.Input("x", "1,2,1,2").Node("GlobalAveragePool", {"x"}, {"p"}).Floats("ratio", {}, {0.5f});
  pool.Node("Dropout", {"p", "ratio"}, {"y", "mask"}).Output("y");
  EXPECT_EQ(Computed(pool, {Floats({1, 2, 1, 2}, {1, 3, 5, 9})}), (Numbers{2, 7}));
  ModelBuilder mean;
  mean.Input("x", "2,2")
      .Ints("axes", {-1})
      .Node("ReduceMean", {"x", "axes"}, {"y"})
      .Attr("keepdims", std::int64_t{0})
      .Output("y");
  EXPECT_EQ(Computed(mean, {Floats({2, 2}, {1, 3, 5, 9})}), (Numbers{2, 7}));
  ModelBuilder noop;
  noop.Input("x", "2")
      .Node("ReduceMean", {"x"}, {"y"})
      .Attr("noop_with_empty_axes", std::int64_t{1})
      .Output("y");
  EXPECT_EQ(Computed(noop, {Floats({2}, {1, 3})}), (Numbers{1, 3}));
}

TEST(Composite, LimitsWorkedOutFromConstantsCountAsConstants) {
  ModelBuilder b;
  b.Input("x", "2")
      .Ints("five", {5})
      .Node("Cast", {"five"}, {"f"})
      .Attr("to", std::int64_t{T::FLOAT});
  b.Ints("axis", {0})
      .Node("Squeeze", {"f", "axis"}, {"limit"})
      .Node("Clip", {"x", "", "limit"}, {"y"})
      .Output("y");
  EXPECT_EQ(Computed(b, {Floats({2}, {1, 9})}), (Numbers{1, 5}));
}

}  // namespace
}  // namespace npukit::importers::onnx
