#include <gtest/gtest.h>

#include "ir/builder.h"

namespace npukit::ir {
namespace {

using tensor::DType;
using tensor::Type;

// Everything the text can hold, odd names included.
constexpr std::string_view kEverything = R"(graph "all \"kinds\"" {
  meta "producer" "paddle2onnx \\ 1.0"
  source "Conv_0" "Conv"
  source "Add \x0a 1" "Add"
  input %x : fp32[1, 2, H, "odd symbol!"]
  input %v0 "a name with spaces" : int64[?]
  input %s : seq(fp32[...])
  input %o : opt(seq(undefined[2]))
  const %w : fp32[1, 2, 1, 1] = [0.1, -1e-30]
  const %e : int64[0] = []
  const %t : string[2] = ["a", "\"\x00"]
  const %h : fp16[2] = [0.5, inf]
  const %u : uint64[1] = [18446744073709551615]
  const %k : fp32[] = [2.0]
  state "cache" fp32[1, 4] starts fp32[1, 4] = [0.0, 1.0, 2.0, 3.0] reads %c : fp32[1, 4]
  %y : fp32[1, 1, H, "odd symbol!"] = conv2d(%x, %w, _, %k) {strides = [1, 1]} epilogue [relu, mul(#3, swapped), clip {max = 6.0, min = 0.0}] name "Conv_0" from [0, 1]
  %f : fp32[...], %g : undefined[...] = foreign "com.acme" "Frob"(%y, _) {a = 1, b = 1.0, c = "s", d = ints [], e = [1, 2], f = floats [], g = [1.5], h = ["p", "q"], i = tensor int8[2] = [-1, 7]} body "then" graph "inner" {
    input %z : fp32[2]
    %r : fp32[2] = relu(%z)
    output %r
  }
  none = foreign "" "Print"(%y) name "p"
  %c2 : fp32[1, 4] = relu(%c)
  next "cache" %c2
  output %y
  output %f
}
)";

TEST(GraphText, PrintingWhatWasParsedGivesTheSameText) {
  const auto g = ParseText(kEverything);
  ASSERT_TRUE(g.ok()) << g.status().message();
  EXPECT_EQ(PrintText(*g), kEverything);
}

TEST(GraphText, ParsesIntoTheGraphItSays) {
  const auto r = ParseText(kEverything);
  ASSERT_TRUE(r.ok()) << r.status().message();
  const Graph& g = *r;
  EXPECT_EQ(g.name, "all \"kinds\"");
  EXPECT_EQ(g.value(g.inputs[1]).name, "a name with spaces");
  EXPECT_EQ(g.source_nodes[1].name, "Add \n 1");
  ASSERT_EQ(g.states.size(), 1u);
  EXPECT_EQ(g.states[0].initial->as<float>()[3], 3.0f);
  const Node& conv = g.nodes[0];
  EXPECT_EQ(conv.op, &op::conv2d);
  EXPECT_EQ(conv.inputs[2], kNoValue);
  ASSERT_EQ(conv.epilogue.size(), 3u);
  EXPECT_EQ(conv.epilogue[1].operand, 3);
  EXPECT_TRUE(conv.epilogue[1].swapped);
  EXPECT_EQ(conv.epilogue[2].attrs.Float("max"), 6.0f);
  const Node& foreign = g.nodes[1];
  EXPECT_TRUE(foreign.is_foreign());
  EXPECT_EQ(foreign.attrs.IntList("e"), (ops::Ints{1, 2}));
  EXPECT_EQ(tensor::ElementAsInt64(*foreign.attrs.Tensor("i"), 0), -1);
  ASSERT_EQ(foreign.bodies.size(), 1u);
  EXPECT_EQ(foreign.bodies[0].second->nodes.size(), 1u);
  EXPECT_EQ(g.constant(6)->strings()[1], std::string("\"\0", 2));
}

TEST(GraphText, BuiltGraphsSurviveARoundTrip) {
  Builder b;
  const ValueId x = b.Input("x.1", DType::kF32, {1, 3, 4, 4});
  const ValueId same_name =
      b.Constant("x.1", tensor::Value::Scalar(0.1f));  // names need not be unique
  const ValueId y = b.Op(op::add, {x, same_name});
  const ValueId z = b.Op(op::reduce_mean, {y},
                         AttrsOf({{"axes", ops::Ints{2, 3}}, {"keepdims", std::int64_t{1}}}));
  const ValueId late =
      b.Constant("x.1", tensor::Value::Scalar(2.0f));  // its id comes after those of y and z
  const Graph g = b.Finish({b.Op(op::mul, {z, late})});
  const auto again = ParseText(PrintText(g));
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(PrintText(*again), PrintText(g));
}

TEST(GraphText, BigConstantsAreHashedUnlessAskedFor) {
  Builder b;
  const ValueId x = b.Input("x", DType::kF32, {100});
  std::vector<float> v(100);
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = 0.1f * static_cast<float>(i);
  const Graph g = b.Finish({b.Op(op::mul, {x, b.Floats("k", {100}, v)})});
  EXPECT_NE(PrintText(g).find("hash"), std::string::npos);
  const auto full = ParseText(PrintText(g, true));
  ASSERT_TRUE(full.ok()) << full.status().message();
  EXPECT_EQ(PrintText(*full, true), PrintText(g, true));
  EXPECT_EQ(full->constant(1)->as<float>()[99], v[99]);
}

TEST(GraphText, TypesMayBeLeftOutAndAreInferred) {
  const auto g = ParseText(R"(graph "g" {
  input %x : fp32[2, 3]
  %y = relu(%x)
  output %y
})");
  ASSERT_TRUE(g.ok()) << g.status().message();
  EXPECT_EQ(g->value(g->outputs[0]).type, Type::Tensor(DType::kF32, {2, 3}));
}

TEST(GraphText, ErrorsNameLineAndColumn) {
  const struct {
    std::string_view text;
    std::string_view message;
  } cases[] = {
      {"graph", "line 1, column 6: expected a string, found the end"},
      {"graph \"g\" {\n  input %x : fp31[2]\n}", "line 2, column 14: expected an element type"},
      {"graph \"g\" {\n  input %x : fp32[2]\n  input %x : fp32[2]\n}",
       "line 3, column 9: %x is defined twice"},
      {"graph \"g\" {\n  %y = relu(%x)\n}", "line 2, column 13: %x is not defined"},
      {"graph \"g\" {\n  const %k : fp32[2] = [1]\n}",
       "line 3, column 1: expected 2 elements, found 1"},
      {"graph \"g\" {\n  const %k : fp32[1] = [1, 2]\n}", "more than the 1 elements"},
      {"graph \"g\" {\n  const %k : fp32[1000000, 1000000] = []\n}", "constants of more than"},
      {"graph \"g\" {\n  const %k : fp32[9223372036854775807, 9223372036854775807] = []\n}",
       "constants of more than"},
      {"graph \"g\" {\n  input %x : fp32[-1]\n}", "a negative size"},
      {"graph \"g\" {\n  input %x : fp32[2]\n  %y = frob(%x)\n}",
       "line 3, column 8: expected an operator, found 'frob'"},
      {"graph \"g\" {\n  input %x : fp32[2]\n  %y : fp32[3] = relu(%x)\n}",
       "y is fp32[2], stated as fp32[3]"},
      {"graph \"g", "without its closing quote"},
      {"graph \"g\" {\n  input %x : fp32[2] ;\n}", "line 2, column 22: unexpected character ';'"},
      {"graph \"g\" {\n}\ngraph", "expected the end"},
  };
  for (const auto& c : cases) {
    const auto g = ParseText(c.text);
    ASSERT_FALSE(g.ok()) << c.text;
    EXPECT_NE(g.status().message().find(c.message), std::string::npos) << g.status().message();
  }
}

TEST(GraphText, NestingIsBounded) {
  std::string types = "graph \"g\" { input %x : ";
  std::string bodies;
  for (int i = 0; i < 100000; ++i) types += "seq(";
  for (int i = 0; i < 10000; ++i)
    bodies += "graph \"g\" { none = foreign \"\" \"If\"() body \"b\" ";
  EXPECT_NE(ParseText(types).status().message().find("nested deeper"), std::string::npos);
  EXPECT_NE(ParseText(bodies).status().message().find("nested deeper"), std::string::npos);
}

TEST(GraphText, NoCutAndNoChangedByteCrashesIt) {
  const std::string text(kEverything);
  for (std::size_t n = 0; n < text.size() - 2; ++n)
    EXPECT_FALSE(ParseText(text.substr(0, n)).ok()) << n;
  std::uint64_t state = 20261130;
  for (int i = 0; i < 3000; ++i) {
    std::string changed = text;
    for (int k = 0; k < 3; ++k) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      changed[(state >> 33) % changed.size()] = static_cast<char>(state >> 25);
    }
    const auto g = ParseText(changed);  // either is fine; it must come back
    EXPECT_TRUE(!g.ok() || Verify(*g).ok());
  }
}

}  // namespace
}  // namespace npukit::ir
