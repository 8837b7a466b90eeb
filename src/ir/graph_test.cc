#include <gtest/gtest.h>

#include "ir/builder.h"
#include "ir/node.h"

namespace npukit::ir {
namespace {

using tensor::DType;
using tensor::Type;

Graph ReluGraph() {
  Builder b;
  const ValueId x = b.Input("x", DType::kF32, {2, 3});
  return b.Finish({b.Op(op::relu, {x})});
}

bool Mentions(const Status& s, std::string_view part) {
  return s.message().find(part) != std::string::npos;
}

TEST(Graph, AddNodeInfersOutputTypes) {
  const Graph g = ReluGraph();
  EXPECT_EQ(g.value(g.outputs[0]).type, Type::Tensor(DType::kF32, {2, 3}));
}

TEST(Graph, AddNodeRefusesValuesThatDoNotExist) {
  Graph g;
  Node n;
  n.op = &op::relu;
  n.name = "r";
  n.inputs = {7};
  const auto r = g.AddNode(n);
  ASSERT_FALSE(r.ok());
  EXPECT_TRUE(Mentions(r.status(), "node r (relu)")) << r.status().message();
}

TEST(Graph, UsesCountEveryReadOnce) {
  Builder b;
  const ValueId x = b.Input("x", DType::kF32, {2});
  const ValueId y = b.Op(op::mul, {x, x});
  const ValueId z = b.Op(op::relu, {y});
  const Graph g = b.Finish({z});
  const Uses uses(g);
  EXPECT_EQ(uses.producer[x], -1);
  EXPECT_EQ(uses.producer[y], 0);
  EXPECT_EQ(uses.readers[x], (std::vector<std::uint32_t>{0, 0}));
  EXPECT_EQ(uses.readers[y], (std::vector<std::uint32_t>{1}));
  EXPECT_TRUE(uses.is_output[z]);
  EXPECT_FALSE(uses.is_output[y]);
}

TEST(Verify, NamesTheNodeThatReadsTooEarly) {
  Builder b;
  const ValueId x = b.Input("x", DType::kF32, {2});
  const ValueId y = b.Op(op::relu, {x});
  const ValueId z = b.Op(op::sigmoid, {y});
  Graph g = b.Finish({z});
  std::swap(g.nodes[0], g.nodes[1]);
  const Status s = Verify(g);
  EXPECT_EQ(s.code(), Code::kInvalidArgument);
  EXPECT_TRUE(Mentions(s, "sigmoid_1")) << s.message();
}

TEST(Verify, RefusesTwoProducersOfOneValue) {
  Graph g = ReluGraph();
  g.nodes.push_back(g.nodes[0]);
  EXPECT_TRUE(Mentions(Verify(g), "made twice"));
}

TEST(Verify, RefusesWrongArity) {
  Graph g = ReluGraph();
  g.nodes[0].inputs.push_back(g.inputs[0]);
  EXPECT_TRUE(Mentions(Verify(g), "expected 1 to 1 inputs, found 2")) << Verify(g).message();
}

TEST(Verify, RefusesUnknownAttributes) {
  Graph g = ReluGraph();
  g.nodes[0].attrs.Set("slope", 0.5f);
  EXPECT_TRUE(Mentions(Verify(g), "slope")) << Verify(g).message();
}

TEST(Verify, RefusesIdsOutOfRange) {
  Graph g = ReluGraph();
  g.outputs[0] = 99;
  EXPECT_TRUE(Mentions(Verify(g), "value 99"));
  g = ReluGraph();
  g.nodes[0].from = {5};
  EXPECT_TRUE(Mentions(Verify(g), "source node 5"));
}

TEST(Verify, RefusesAnEpilogueWhereNoneCanHang) {
  Graph g = ReluGraph();
  g.nodes[0].epilogue.push_back({&op::relu, {}, -1, false});
  EXPECT_TRUE(Mentions(Verify(g), "epilogue")) << Verify(g).message();
}

TEST(Verify, RefusesAnEpilogueOperandThatIsNotAnInput) {
  Builder b;
  const ValueId x = b.Input("x", DType::kF32, {2});
  Graph g = b.Finish({b.Op(op::chain, {x})});
  g.nodes[0].epilogue.push_back({&op::add, {}, 4, false});
  EXPECT_TRUE(Mentions(Verify(g), "reads input 4")) << Verify(g).message();
}

TEST(Verify, LooksIntoBodiesAndBoundsTheirDepth) {
  Graph g = ReluGraph();
  auto bad = std::make_shared<Graph>(ReluGraph());
  bad->outputs[0] = 99;
  g.nodes[0].bodies.emplace_back("then_branch", bad);
  EXPECT_TRUE(Mentions(Verify(g), "then_branch"));

  auto inner = std::make_shared<Graph>(ReluGraph());
  for (int i = 0; i < 100; ++i) {
    auto outer = std::make_shared<Graph>(ReluGraph());
    outer->nodes[0].bodies.emplace_back("body", inner);
    inner = outer;
  }
  EXPECT_EQ(Verify(*inner).code(), Code::kResourceExhausted);
}

// Shape -> Slice -> Concat -> Reshape as exporters write "flatten all but the first two": [2, 3, 4,
// 5] -> [2, 3, 20].
TEST(InferTypes, FollowsShapeArithmetic) {
  Builder b;
  const ValueId x = b.Input(
      "x", Type::Tensor(DType::kF32, tensor::Shape({tensor::Dim::Symbol("N"), tensor::Dim::Of(3),
                                                    tensor::Dim::Of(4), tensor::Dim::Of(5)})));
  const ValueId shape = b.Op(op::shape, {x});
  const ValueId head = b.Op(op::slice, {shape, b.Ints("starts", {0}), b.Ints("ends", {2})});
  const ValueId to =
      b.Op(op::concat, {head, b.Ints("rest", {-1})}, AttrsOf({{"axis", std::int64_t{0}}}));
  const ValueId y = b.Op(op::reshape, {x, to});
  Graph g = b.Finish({y});
  EXPECT_FALSE(g.value(y).type.is_static());
  g.value(x).type = Type::Tensor(DType::kF32, {2, 3, 4, 5});
  const Status s = InferTypes(g);
  ASSERT_TRUE(s.ok()) << s.message();
  EXPECT_EQ(g.value(y).type, Type::Tensor(DType::kF32, {2, 3, 20}));
  EXPECT_FALSE(g.is_constant(to)) << "inference must not change the graph";
}

TEST(InferTypes, NamesTheNodeWhoseInputsDoNotFit) {
  Builder b;
  const ValueId x = b.Input("x", DType::kF32, {2, 3});
  const ValueId w = b.Input("w", DType::kF32, {3, 4});
  Graph g = b.Finish({b.Op(op::matmul, {x, w})});
  g.value(w).type = Type::Tensor(DType::kF32, {5, 4});
  const Status s = InferTypes(g);
  ASSERT_FALSE(s.ok());
  EXPECT_TRUE(Mentions(s, "matmul_0")) << s.message();
}

TEST(RemoveDead, DropsUnreadNodesAndRenumbersValues) {
  Builder b;
  const ValueId x = b.Input("x", DType::kF32, {2});
  b.Floats("unused", {1}, {1});
  b.Op(op::sigmoid, {b.Op(op::relu, {x})});  // read by nobody
  const ValueId y = b.Op(op::sqrt, {x});
  Graph g = b.Finish({y});
  RemoveDead(g);
  ASSERT_EQ(g.nodes.size(), 1u);
  EXPECT_EQ(g.nodes[0].op, &op::sqrt);
  EXPECT_EQ(g.values.size(), 2u);
  EXPECT_TRUE(Verify(g).ok()) << Verify(g).message();
}

TEST(RemoveDead, KeepsUnreadInputsBecauseTheyAreTheSignature) {
  Builder b;
  const ValueId x = b.Input("x", DType::kF32, {2});
  b.Input("unread", DType::kF32, {2});
  Graph g = b.Finish({b.Op(op::relu, {x})});
  RemoveDead(g);
  EXPECT_EQ(g.inputs.size(), 2u);
  EXPECT_TRUE(Verify(g).ok());
}

TEST(InferTypes, RefusesMoreElementsThanCanBeCounted) {
  const auto g = ParseText(R"(graph "g" {
  input %x : int4[9223372036854775807]
  %a : int64[1] = shape(%x)
  output %a
}
)");
  ASSERT_FALSE(g.ok());
  EXPECT_NE(g.status().message().find("too large to address"), std::string::npos)
      << g.status().message();
}

TEST(EvaluateNode, RefusesForeignNodesByName) {
  Node n;
  n.foreign_op = "Frobnicate";
  n.name = "f0";
  const auto r = EvaluateNode(n, {});
  EXPECT_EQ(r.status().code(), Code::kUnsupported);
  EXPECT_TRUE(Mentions(r.status(), "f0")) << r.status().message();
}

}  // namespace
}  // namespace npukit::ir
