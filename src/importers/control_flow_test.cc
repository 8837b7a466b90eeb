// If, Loop, Scan, sequences, optionals and local functions: imported, then run by the interpreter
// against values by hand. The published node tests judge them by value too (conformance).
#include <gtest/gtest.h>

#include "base/text.h"
#include "importers/onnx/model_builder_test.h"

namespace npukit::importers::onnx {
namespace {

using tensor::DType;
using tensor::Value;
using T = pb::TensorProto;
using Ints = std::vector<std::int64_t>;

Value Floats(const std::vector<float>& v) {
  return Value::FromVector(DType::kF32, {static_cast<std::int64_t>(v.size())}, v);
}
Value Bool(bool b) { return Value::FromVector(DType::kBool, {}, std::vector<std::uint8_t>{b}); }

// Runs the model; prints each output as "fp32[2]: 1 2".
std::string Answer(const ModelBuilder& b, const std::vector<Value>& inputs,
                   const eval::InterpretOptions& options = {}) {
  const auto m = b.Import();
  if (!m.ok()) return m.status().message();
  const auto out = eval::Interpret(m->graph, inputs, {}, options);
  if (!out.ok()) return out.status().message();
  std::string s;
  for (const Value& v : *out) {
    s += Cat(s.empty() ? "" : "; ", v.type().ToString());
    for (std::int64_t i = 0; i < v.count(); ++i) s += Cat(" ", tensor::ElementAsDouble(v, i));
  }
  return s;
}

bool Holds(const ModelBuilder& b, const ops::OpDef& op) {
  const auto m = b.Import();
  EXPECT_TRUE(m.ok()) << m.status().message();
  if (!m.ok()) return false;
  for (const ir::Node& n : m->graph.nodes) {
    if (n.op == &op) return true;
  }
  return false;
}

ModelBuilder& Body(ModelBuilder& b, const std::string& name, const ModelBuilder& body) {
  *b.AddAttr(name, pb::AttributeProto::GRAPH).mutable_g() = body.model.graph();
  return b;
}

// z = node(a, b)
ModelBuilder One(const std::string& op, const std::vector<std::string>& in) {
  ModelBuilder b;
  b.Node(op, in, {"z"}).Output("z");
  return b;
}

// y = c ? x + x : x * k
ModelBuilder Choice() {
  ModelBuilder b;
  b.Input("c", "", T::BOOL).Input("x", "2").Floats("k", {1}, {10});
  b.Node("If", {"c"}, {"y"}).Output("y");
  Body(b, "else_branch", One("Mul", {"x", "k"}));  // the order in the file does not matter
  Body(b, "then_branch", One("Add", {"x", "x"}));
  return b;
}

TEST(ControlFlow, IfTakesTheBranchOfItsCondition) {
  EXPECT_EQ(Answer(Choice(), {Bool(true), Floats({1, 2})}), "fp32[2] 2 4");
  EXPECT_EQ(Answer(Choice(), {Bool(false), Floats({1, 2})}), "fp32[2] 10 20");
  EXPECT_TRUE(Holds(Choice(), op::if_else));
}

TEST(ControlFlow, AKnownConditionLeavesItsBranchAlone) {
  ModelBuilder b;
  b.Input("x", "2").Node("Shape", {"x"}, {"s"}).Node("ReduceSum", {"s"}, {"n"});
  b.Attr("keepdims", std::int64_t{0});
  b.Ints("two", {2}).Node("Equal", {"n", "two"}, {"c"}).Node("If", {"c"}, {"y"}).Output("y");
  Body(b, "then_branch", One("Add", {"x", "x"}));
  Body(b, "else_branch", One("Squeeze", {"x"}));
  EXPECT_FALSE(Holds(b, op::if_else));
  EXPECT_EQ(Answer(b, {Floats({1, 2})}), "fp32[2] 2 4");
}

TEST(ControlFlow, ABranchMayHandOnWhatItReadsAndConstants) {
  for (const bool known : {false, true}) {
    ModelBuilder b;
    b.Input("c", "", T::BOOL).Input("x", "2").Floats("k", {1}, {7});
    if (known) b.Node("Constant", {}, {"t"});
    if (known) {
      auto* t = b.AddAttr("value", pb::AttributeProto::TENSOR).mutable_t();
      t->set_data_type(T::BOOL);
      t->add_int32_data(1);
    }
    ModelBuilder then_branch;
    then_branch.Output("x").Output("k");
    ModelBuilder else_branch;
    else_branch.Node("Neg", {"x"}, {"a"}).Node("Neg", {"k"}, {"d"}).Output("a").Output("d");
    b.Node("If", {known ? "t" : "c"}, {"y", "z"}).Output("y").Output("z");
    Body(b, "then_branch", then_branch);
    Body(b, "else_branch", else_branch);
    EXPECT_EQ(Answer(b, {Bool(true), Floats({1, 2})}), "fp32[2] 1 2; fp32[1] 7");
  }
}

// Carries x doubled, scans it, and stops when it is 8 or more.
ModelBuilder Doubling(const std::string& trips, const std::string& cond) {
  ModelBuilder body;
  body.Input("i", "", T::INT64).Input("go", "", T::BOOL).Input("v", "1").Floats("limit", {1}, {8});
  body.Node("Add", {"v", "v"}, {"w"}).Node("Less", {"w", "limit"}, {"l"});
  body.Ints("no_axes", {0})
      .Node("Squeeze", {"l", "no_axes"}, {"on"})
      .Node("Identity", {"w"}, {"s"});
  body.Output("on").Output("w").Output("s");
  ModelBuilder b;
  b.Input("m", "", T::INT64).Input("c", "", T::BOOL).Input("x", "1");
  b.Node("Loop", {trips, cond, "x"}, {"y", "rows"}).Output("y").Output("rows");
  return Body(b, "body", body);
}

TEST(ControlFlow, LoopCarriesScansAndStops) {
  const auto run = [](std::int64_t m, bool c) {
    return Answer(Doubling("m", "c"), {Value::ScalarI64(m), Bool(c), Floats({1})});
  };
  EXPECT_EQ(run(2, true), "fp32[1] 4; fp32[2, 1] 2 4");
  EXPECT_EQ(run(99, true), "fp32[1] 8; fp32[3, 1] 2 4 8");
  EXPECT_EQ(run(99, false), "fp32[1] 1; fp32[0, 1]");
  EXPECT_EQ(run(-1, true), "fp32[1] 1; fp32[0, 1]");
  EXPECT_EQ(Answer(Doubling("", ""), {Value::ScalarI64(0), Bool(false), Floats({1})}),
            "fp32[1] 8; fp32[3, 1] 2 4 8");
}

TEST(ControlFlow, ALoopMayChangeSizes) {
  ModelBuilder body;
  body.Input("i", "1", T::INT64).Input("go", "1", T::BOOL).Input("v", "1");
  body.Node("Cast", {"i"}, {"f"}).Attr("to", std::int64_t{1});
  body.Node("Concat", {"v", "f"}, {"w"}).Attr("axis", std::int64_t{0});
  body.Output("go").Output("w");
  ModelBuilder b;
  b.Input("x", "1").Ints("m", {3}).Node("Loop", {"m", "", "x"}, {"y"}).Output("y");
  Body(b, "body", body);
  EXPECT_EQ(Answer(b, {Floats({7})}), "fp32[4] 7 0 1 2");
  EXPECT_EQ(b.Import()->graph.value(b.Import()->graph.outputs[0]).type.ToString(), "fp32[?]");
}

TEST(ControlFlow, EndlessLoopsEndAtTheLimit) {
  ModelBuilder body;
  body.Input("i", "", T::INT64).Input("go", "", T::BOOL).Input("v", "1");
  body.Node("Identity", {"go"}, {"on"}).Node("Neg", {"v"}, {"w"}).Output("on").Output("w");
  ModelBuilder b;
  b.Input("x", "1").Node("Loop", {"", "", "x"}, {"y"}).Output("y");
  b.last().set_name("spin");
  Body(b, "body", body);
  EXPECT_EQ(Answer(b, {Floats({1})}, {.max_iterations = 100}),
            "node spin (loop): the loops of this run make more than 100 iterations; if that is "
            "meant, raise max_iterations");
}

TEST(ControlFlow, ScanHasDirectionsAndAxes) {
  ModelBuilder body;
  body.Input("sum", "2").Input("row", "2").Node("Add", {"sum", "row"}, {"next"});
  body.Node("Identity", {"next"}, {"out"}).Output("next").Output("out");
  ModelBuilder b;
  b.Input("s", "2").Input("x", "2,3");
  b.Node("Scan", {"s", "x"}, {"last", "sums"}).Output("last").Output("sums");
  b.Attr("num_scan_inputs", std::int64_t{1}).Attr("scan_input_axes", Ints{1});
  b.Attr("scan_input_directions", Ints{1}).Attr("scan_output_axes", Ints{-1});
  b.Attr("scan_output_directions", Ints{1});
  Body(b, "body", body);
  const Value x = Value::FromVector(DType::kF32, {2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});
  // Columns from the back: [3 6], [5 11], [6 15]; written from the back, each a column again.
  EXPECT_EQ(Answer(b, {Floats({0, 0}), x}), "fp32[2] 6 15; fp32[2, 3] 6 5 3 15 11 6");
}

TEST(ControlFlow, SequenceMapMakesSequences) {
  ModelBuilder body;
  body.Input("a", "?").Input("t", "1").Node("Add", {"a", "t"}, {"z"}).Output("z");
  ModelBuilder b;
  b.Input("x", "2").Input("y", "3").Input("t", "1");
  b.Node("SequenceConstruct", {"x", "y"}, {"s"}).Node("SequenceMap", {"s", "t"}, {"m"});
  Body(b, "body", body);
  b.Ints("one", {1}).Node("SequenceAt", {"m", "one"}, {"z"}).Node("SequenceLength", {"m"}, {"n"});
  b.Output("z").Output("n");
  EXPECT_EQ(Answer(b, {Floats({1, 2}), Floats({3, 4, 5}), Floats({10})}),
            "fp32[3] 13 14 15; int64[] 2");
}

TEST(ControlFlow, OptionalsKeepTheirType) {
  ModelBuilder b;
  b.Input("x", "2").Node("Optional", {}, {"o"});
  auto* tp = b.AddAttr("type", pb::AttributeProto::TYPE_PROTO).mutable_tp();
  ModelBuilder::SetType(tp->mutable_sequence_type()->mutable_elem_type(), T::FLOAT, "-");
  b.Node("OptionalHasElement", {"o"}, {"h"}).Node("Optional", {"x"}, {"p"});
  b.Node("OptionalGetElement", {"p"}, {"y"}).Output("h").Output("y");
  EXPECT_EQ(Answer(b, {Floats({1, 2})}), "bool[] 0; fp32[2] 1 2");
}

TEST(ControlFlow, SparseInitializersBecomeDense) {
  ModelBuilder b;
  auto* t = b.graph().add_sparse_initializer();
  ModelBuilder::SetFloats(t->mutable_values(), {2}, {5, 6});
  t->mutable_values()->set_name("k");
  t->mutable_indices()->set_data_type(T::INT64);
  t->mutable_indices()->add_dims(2);
  t->mutable_indices()->add_dims(2);
  for (const int i : {0, 1, 1, 0}) t->mutable_indices()->add_int64_data(i);
  t->add_dims(2);
  t->add_dims(2);
  b.Input("x", "1").Node("Add", {"x", "k"}, {"y"}).Output("y");
  EXPECT_EQ(Answer(b, {Floats({0})}), "fp32[2, 2] 0 5 6 0");
  t->mutable_indices()->set_int64_data(3, 2);
  EXPECT_NE(Answer(b, {}).find("initializer k: the place of sparse value 1 is outside"),
            std::string::npos);
  t->set_dims(0, std::int64_t{1} << 40);
  EXPECT_NE(Answer(b, {}).find("store them as dense tensors"), std::string::npos);
}

// --- local functions

pb::FunctionProto* Function(ModelBuilder& b, const std::string& name,
                            const std::vector<std::string>& in,
                            const std::vector<std::string>& out) {
  auto* f = b.model.add_functions();
  f->set_name(name);
  f->set_domain("local");
  for (const auto& s : in) f->add_input(s);
  for (const auto& s : out) f->add_output(s);
  return f;
}

pb::NodeProto* Call(google::protobuf::RepeatedPtrField<pb::NodeProto>* nodes, const char* op,
                    const char* domain, const std::vector<std::string>& in,
                    const std::vector<std::string>& out) {
  auto* n = nodes->Add();
  n->set_op_type(op);
  n->set_domain(domain);
  n->set_name(Cat("the_", op));
  for (const auto& s : in) n->add_input(s);
  for (const auto& s : out) n->add_output(s);
  return n;
}

// Leaky(x, alpha = 0.5): LeakyRelu(x, alpha by reference). Twice(x) = Leaky(x, 0.25) + Leaky(x).
ModelBuilder Functions() {
  ModelBuilder b;
  auto* leaky = Function(b, "Leaky", {"a"}, {"b"});
  auto* ref = Call(leaky->mutable_node(), "LeakyRelu", "", {"a"}, {"b"})->add_attribute();
  ref->set_name("alpha");
  ref->set_ref_attr_name("slope");
  ref->set_type(pb::AttributeProto::FLOAT);
  auto* slope = leaky->add_attribute_proto();
  slope->set_name("slope");
  slope->set_type(pb::AttributeProto::FLOAT);
  slope->set_f(0.5f);
  auto* twice = Function(b, "Twice", {"x"}, {"y"});
  auto* given = Call(twice->mutable_node(), "Leaky", "local", {"x"}, {"p"})->add_attribute();
  given->set_name("slope");
  given->set_type(pb::AttributeProto::FLOAT);
  given->set_f(0.25f);
  Call(twice->mutable_node(), "Leaky", "local", {"x"}, {"q"});
  Call(twice->mutable_node(), "Add", "", {"p", "q"}, {"y"});
  b.Input("x", "2");
  Call(b.graph().mutable_node(), "Twice", "local", {"x"}, {"y"});
  b.Output("y");
  return b;
}

TEST(LocalFunctions, ExpandWithTheirAttributes) {
  EXPECT_EQ(Answer(Functions(), {Floats({-4, 1})}), "fp32[2] -3 2");  // -4 * 0.25 - 4 * 0.5
  const auto m = Functions().Import();
  std::vector<std::string> names;
  for (const ir::Node& n : m->graph.nodes) names.push_back(n.name);
  EXPECT_EQ(Join(names, ", "),
            "the_Twice/the_Leaky/the_LeakyRelu, the_Twice/the_Leaky/the_LeakyRelu, "
            "the_Twice/the_Add");
  ASSERT_FALSE(m->graph.nodes[0].from.empty());
  EXPECT_EQ(m->graph.source_nodes[m->graph.nodes[0].from[0]].op, "LeakyRelu");
}

TEST(LocalFunctions, GoBeforeOperatorsOfTheSameName) {
  ModelBuilder b;
  auto* f = Function(b, "Relu", {"a"}, {"b"});
  f->set_domain("");
  Call(f->mutable_node(), "Neg", "", {"a"}, {"b"});
  b.Input("x", "2").Node("Relu", {"x"}, {"y"}).Output("y");
  EXPECT_EQ(Answer(b, {Floats({-4, 1})}), "fp32[2] 4 -1");
}

TEST(LocalFunctions, MayHoldBodiesAndLeaveInputsOut) {
  ModelBuilder b;
  auto* f = Function(b, "F", {"c", "x", "low"}, {"y"});
  auto* n = Call(f->mutable_node(), "If", "", {"c"}, {"y"});
  for (const char* name : {"then_branch", "else_branch"}) {
    auto* a = n->add_attribute();
    a->set_name(name);
    a->set_type(pb::AttributeProto::GRAPH);
    *a->mutable_g() = (name[0] == 't' ? One("Clip", {"x", "low", ""}) : One("Neg", {"x"})).graph();
  }
  b.Input("c", "", T::BOOL).Input("x", "2");
  Call(b.graph().mutable_node(), "F", "local", {"c", "x"}, {"y"});
  b.Output("y");
  EXPECT_EQ(Answer(b, {Bool(true), Floats({-4, 1})}), "fp32[2] -4 1");
  EXPECT_EQ(Answer(b, {Bool(false), Floats({-4, 1})}), "fp32[2] 4 -1");
}

TEST(LocalFunctions, ThatCallThemselvesAreRefused) {
  ModelBuilder b = Functions();
  Call(b.model.mutable_functions(0)->mutable_node(), "Twice", "local", {"a"}, {"z"});
  EXPECT_NE(
      Answer(b, {}).find("node the_Twice (Twice): node the_Leaky (Leaky): node the_Twice (Twice): "
                         "the function calls itself, without an end: local:Twice > local:Leaky "
                         "> local:Twice"),
      std::string::npos)
      << Answer(b, {});
}

TEST(LocalFunctions, ThatMultiplyAreBounded) {
  ModelBuilder b;
  for (int i = 0; i < 10; ++i) {  // ten calls of the next each: 10^10 nodes
    auto* f = Function(b, Cat("F", i), {"a"}, {"z"});
    for (int k = 0; k < 10; ++k) {
      Call(f->mutable_node(), i == 9 ? "Neg" : Cat("F", i + 1).c_str(), i == 9 ? "" : "local",
           {"a"}, {k == 9 ? "z" : Cat("t", k)});
    }
  }
  b.Input("x", "2");
  Call(b.graph().mutable_node(), "F0", "local", {"x"}, {"y"});
  b.Output("y");
  EXPECT_NE(Answer(b, {}).find("the calls of local functions make more than 200000 nodes"),
            std::string::npos)
      << Answer(b, {});
}

// --- models that are not what they say

void Refused(const ModelBuilder& b, const std::string& message) {
  const auto m = b.Import();
  ASSERT_FALSE(m.ok()) << "expected: " << message;
  EXPECT_NE(m.status().message().find(message), std::string::npos) << m.status().message();
  EXPECT_EQ(m.status().message().find('\n'), std::string::npos) << m.status().message();
}

TEST(ControlFlow, BadBodiesAreRefusedByName) {
  const auto with_branches = [](const ModelBuilder& then_branch, const ModelBuilder& else_branch) {
    ModelBuilder b;
    b.Input("c", "", T::BOOL).Input("x", "2").Node("If", {"c"}, {"y"}).Output("y");
    b.last().set_name("choose");
    Body(b, "then_branch", then_branch);
    Body(b, "else_branch", else_branch);
    return b;
  };
  const ModelBuilder good = One("Neg", {"x"});
  Refused(with_branches(good, One("Neg", {"nowhere"})),
          "node choose (If): body else_branch: node Neg_0 (Neg): reads nowhere, which nothing");
  Refused(with_branches(good, One("Neg", {"z"})), "node choose (If): body else_branch: node Neg_0");
  ModelBuilder two = One("Neg", {"x"});
  two.Node("Abs", {"x"}, {"u"}).Output("u");
  Refused(with_branches(good, two), "node choose (If): expected as many outputs");
  ModelBuilder input = One("Neg", {"x"});
  input.Input("v", "2");
  Refused(with_branches(good, input), "node choose (If): its branches have 0 and 1 inputs");
  ModelBuilder other = One("Cast", {"x"});
  other.Attr("to", std::int64_t{7});
  Refused(with_branches(good, other), "node choose (if_else): output 0 of then_branch and");
  ModelBuilder alone;
  alone.Input("c", "", T::BOOL).Input("x", "2").Node("If", {"c"}, {"y"}).Output("y");
  Refused(Body(alone, "then_branch", good), "attribute else_branch is missing");
  ModelBuilder text = with_branches(good, good);
  text.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(T::FLOAT);
  Refused(text, "node choose (if_else): cond: expected one bool, found fp32[]");

  const auto loop = [](const ModelBuilder& body) {
    ModelBuilder b;
    b.Input("x", "2").Node("Loop", {"", "", "x"}, {"y"}).Output("y");
    b.last().set_name("again");
    Body(b, "body", body);
    return b;
  };
  Refused(loop(good), "node again (Loop): its body has 0 inputs, expected 2");
  ModelBuilder body;
  body.Input("i", "", T::INT64).Input("go", "", T::BOOL).Input("v", "2");
  Refused(loop(body.Output("go")), "node again (Loop): its body has 1 outputs, expected 1");
  Refused(loop(body.Output("i")),
          "node again (loop): carried value 0 before and after an iteration: expected one type");
}

TEST(ControlFlow, NestsAsDeepAsTheLimit) {
  const auto nested = [](int depth) {
    ModelBuilder inner = One("Neg", {"x"});
    for (int i = 0; i < depth; ++i) {
      ModelBuilder b;
      b.Node("If", {"c"}, {"z"}).Output("z");
      Body(b, "then_branch", inner);
      Body(b, "else_branch", One("Abs", {"x"}));
      inner = b;
    }
    inner.Input("c", "", T::BOOL).Input("x", "2");
    return inner;
  };
  EXPECT_EQ(Answer(nested(64), {Bool(true), Floats({1, 2})}), "fp32[2] -1 -2");
  Refused(nested(65), "nested deeper than 64");
}

}  // namespace
}  // namespace npukit::importers::onnx
