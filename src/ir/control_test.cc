// Graphs in graphs: their types, their text, what dies in them.
#include "ir/control.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "ir/graph.h"

namespace npukit::ir {
namespace {

Graph Parse(const std::string& text) {
  auto g = ParseText(text);
  EXPECT_TRUE(g.ok()) << g.status().message();
  return g.ok() ? std::move(g).value() : Graph();
}

std::string TypeOfOutput(const Graph& g, std::size_t i) {
  return g.value(g.outputs[i]).type.ToString();
}

// A loop that carries `v` (of type `given`) through `step` and scans what it was.
std::string LoopText(const std::string& trips, const std::string& given, const std::string& step) {
  return Cat(R"(graph "g" {
  input %m : int64[]
  input %v : )",
             given, R"(
  input %n : fp32[N]
  const %three : int64[] = [3]
  %y, %rows = loop()",
             trips, R"(, _, %v, %n) {carried = 1} body "body" graph "b" {
    input %i : int64[]
    input %c : bool[]
    input %x : fp32[...]
    input %k : fp32[...]
    )",
             step, R"(
    %go = identity(%c)
    %was = identity(%x)
    output %go
    output %w
    output %was
  }
  output %y
  output %rows
})");
}

TEST(Control, ALoopKeepsWhatAllIterationsShare) {
  const Graph same = Parse(LoopText("%three", "fp32[2, H]", "%w = neg(%x)"));
  EXPECT_EQ(TypeOfOutput(same, 0), "fp32[2, H]");
  EXPECT_EQ(TypeOfOutput(same, 1), "fp32[3, 2, H]");
  EXPECT_EQ(same.nodes[0]
                .bodies[0]
                .second->value(same.nodes[0].bodies[0].second->outputs[1])
                .type.ToString(),
            "fp32[2, H]")
      << "the body is inferred too";
  const Graph open = Parse(LoopText("%m", "fp32[2, H]", "%w = neg(%x)"));
  EXPECT_EQ(TypeOfOutput(open, 1), "fp32[?, 2, H]");
  const Graph grows = Parse(LoopText("%m", "fp32[1]", "%w = concat(%x, %k) {axis = 0}"));
  EXPECT_EQ(TypeOfOutput(grows, 0), "fp32[?]");
  EXPECT_EQ(TypeOfOutput(grows, 1), "fp32[?, ?]");
  const Graph ranks = Parse(LoopText("%m", "fp32[1]", "%w = unsqueeze(%x) {axes = [0]}"));
  EXPECT_EQ(TypeOfOutput(ranks, 0), "fp32[...]");
}

TEST(Control, ALoopMayNotChangeAnElementType) {
  const auto g = ParseText(LoopText("%m", "fp32[1]", "%w = is_nan(%x)"));
  ASSERT_FALSE(g.ok());
  EXPECT_NE(g.status().message().find("node y (loop): carried value 0 before and after an "
                                      "iteration: expected one type, found fp32[1] and bool[1]"),
            std::string::npos)
      << g.status().message();
}

constexpr char kIf[] = R"(graph "g" {
  source "if" "If"
  input %c : bool[]
  input %x : fp32[2, 3]
  input %u : fp32[2, 3]
  %y = if_else(%c, %x, %u, %x) name "choice" from [0] body "then_branch" graph "t" {
    input %a : fp32[2, 3]
    input %unread : fp32[2, 3]
    const %k : fp32[1] = [2.0]
    %m = mul(%a, %k)
    output %m
  } body "else_branch" graph "e" {
    input %b : fp32[2, 3]
    %dead = abs(%b)
    %r = reduce_sum(%b) {axes = [1]}
    output %r
  }
  output %y
})";

TEST(Control, BranchesAreJoined) { EXPECT_EQ(TypeOfOutput(Parse(kIf), 0), "fp32[2, ?]"); }

TEST(Control, TextWithBodiesIsReadBack) {
  for (const std::string& text : {std::string(kIf), LoopText("_", "fp32[1]", "%w = neg(%x)")}) {
    const std::string once = PrintText(Parse(text));
    EXPECT_EQ(PrintText(Parse(once)), once);
  }
}

TEST(Control, WhatABodyDoesNotReadIsNotCaptured) {
  Graph g = Parse(kIf);
  const Graph shared = g;
  RemoveDead(g);
  EXPECT_EQ(g.nodes[0].inputs.size(), 3u);
  EXPECT_EQ(g.nodes[0].bodies[1].second->nodes.size(), 1u);
  EXPECT_TRUE(Verify(g).ok()) << Verify(g).message();
  EXPECT_EQ(shared.nodes[0].bodies[1].second->nodes.size(), 2u) << "the copy keeps its bodies";
  EXPECT_TRUE(Verify(shared).ok());
}

TEST(Control, WrongFormsAreNamed) {
  const auto refused = [](auto change, const char* expected) {
    Graph g = Parse(kIf);
    change(g.nodes[0]);
    const Status s = Verify(g);
    ASSERT_FALSE(s.ok()) << expected;
    EXPECT_NE(s.message().find(Cat("node choice (if_else): ", expected)), std::string::npos)
        << s.message();
  };
  refused([](Node& n) { n.inputs.pop_back(); }, "inputs (cond and what the branches read)");
  refused([](Node& n) { n.inputs[1] = kNoValue; }, "input 1 is absent");
  refused([](Node& n) { n.bodies.pop_back(); }, "bodies: expected 2, found 1");
  refused([](Node& n) { n.bodies[0].first = "body"; }, "expected a body then_branch");
  refused([](Node& n) { n.bodies[1].second.reset(); }, "expected a body else_branch");
  refused([](Node& n) { OwnBody(n.bodies[1].second).outputs.clear(); }, "outputs of else_branch");

  Graph g = Parse(LoopText("%m", "fp32[1]", "%w = neg(%x)"));
  g.nodes[0].attrs.Set("carried", std::int64_t{5});
  EXPECT_NE(Verify(g).message().find("carries 5 values, found 2 inputs"), std::string::npos)
      << Verify(g).message();
}

// Rounds of inference would multiply: 64 loops in loops of which each changes a size.
TEST(Control, LoopsInLoopsAreInferredInTime) {
  std::string text = "%w = concat(%x, %k) {axis = 0}";
  for (int i = 0; i < 40; ++i) {
    text =
        Cat("%w = loop(_, %c, %x, %k) {carried = 1} body \"body\" graph \"b\" {\n"
            "input %i : int64[]\ninput %c : bool[]\ninput %x : fp32[...]\n"
            "input %k : fp32[...]\n%go = identity(%c)\n",
            text, "\noutput %go\noutput %w\n}");
  }
  EXPECT_EQ(TypeOfOutput(Parse(LoopText("%m", "fp32[1]", text)), 0), "fp32[...]");
}

}  // namespace
}  // namespace npukit::ir
