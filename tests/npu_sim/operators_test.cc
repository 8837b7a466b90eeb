// Normalisation, reduction, movement, broadcasting and grouped convolution against the operators'
// references: as lowering_test.cc, for the operators of language networks and newer vision ones.
#include "case.h"

namespace npukit {
namespace {

Dims SomeDims(Case& c, int low, int high, std::int64_t most) {
  return RandomDims(c, low, high, most);
}

void LayerNorm(Case& c, int* ran) {
  Dims d = SomeDims(c, 1, 3, 12);
  d.back() = c.Size(2, 300);
  const std::int64_t axis = c.r.OneIn(3) ? -c.Size(1, static_cast<std::int64_t>(d.size())) : -1;
  const Dims tail(d.end() + axis, d.end());
  // A large mean: the variance must come from differences, and sums of squares overflow fp16.
  const double mean = c.r.OneIn(3) ? 200 : 0;
  std::vector<ir::ValueId> in = {c.In(d, mean - 4, mean + 4), c.Weights(tail, 1)};
  if (c.r.OneIn(2)) in.push_back(c.Weights(tail, 1));
  c.Finish(c.b.Op(op::layer_normalization, in, ir::AttrsOf({{"axis", axis}})), kArithmetic, ran);
}

void Reduce(Case& c, int* ran) {
  const Dims d = SomeDims(c, 1, 4, 20);
  const auto rank = static_cast<std::int64_t>(d.size());
  const std::int64_t begin = c.Size(0, rank - 1), end = c.Size(begin, rank - 1);
  ops::Ints axes;
  for (std::int64_t i = begin; i <= end; ++i) axes.push_back(c.r.OneIn(2) ? i : i - rank);
  if (c.r.OneIn(3) && end < rank - 1 && begin < end) axes.push_back(rank - 1);
  const ops::OpDef* const all[] = {&op::reduce_mean, &op::reduce_sum, &op::reduce_max,
                                   &op::reduce_min};
  c.Finish(c.b.Op(*all[c.r.Below(4)], {c.In(d)},
                  ir::AttrsOf({{"axes", axes}, {"keepdims", std::int64_t{c.r.OneIn(2)}}})),
           kArithmetic, ran);
}

// Rows too long for the unified buffer are read three times. Spread and scaled so that a share of
// the thousands of results is large enough for the tolerance to mean something.
void LongSoftmax(Case& c, int* ran) {
  const Dims d = {c.Size(1, 2), c.Size(20000, 30000)};
  ir::ValueId y = c.b.Op(op::mul, {c.In(d, -8, 8), c.b.Floats("spread", {}, {16})});
  y = c.b.Op(op::softmax, {y}, ir::AttrsOf({{"axis", std::int64_t{-1}}}));
  c.Finish(c.b.Op(op::mul, {y, c.b.Floats("scale", {}, {64})}), kArithmetic, ran);
}

void Pad(Case& c, int* ran) {
  const Dims d = SomeDims(c, 1, 4, 20);
  std::vector<std::int64_t> pads(2 * d.size());
  const char* const modes[] = {"constant", "constant", "edge", "reflect", "wrap"};
  const std::string mode = modes[c.r.Below(5)];
  for (std::size_t i = 0; i < pads.size(); ++i) {
    const std::int64_t n = d[i % d.size()];
    if (c.r.OneIn(2))
      pads[i] = c.Size(mode == "constant" ? -(n - 1) / 2 : 0, std::min<std::int64_t>(n, 5));
  }
  std::vector<ir::ValueId> in = {c.In(d), c.b.Ints("pads", pads)};
  if (mode == "constant" && c.r.OneIn(2)) in.push_back(c.b.Floats("value", {}, {0.625f}));
  ir::ValueId y = c.b.Op(op::pad, in, ir::AttrsOf({{"mode", mode}}));
  if (c.r.OneIn(2)) y = c.b.Op(op::relu, {y});
  c.Finish(y, kExact, ran);
}

void Tile(Case& c, int* ran) {
  const Dims d = SomeDims(c, 1, 4, 20);
  std::vector<std::int64_t> repeats;
  for (std::size_t i = 0; i < d.size(); ++i) repeats.push_back(c.Size(1, 3));
  c.Finish(c.b.Op(op::tile, {c.In(d), c.b.Ints("repeats", repeats)}), kExact, ran);
}

void Expand(Case& c, int* ran) {
  const Dims to = SomeDims(c, 1, 4, 20);
  Dims from(to.begin() + static_cast<std::ptrdiff_t>(c.r.Below(to.size())), to.end());
  for (std::int64_t& n : from) {
    if (c.r.OneIn(2)) n = 1;
  }
  c.Finish(c.b.Op(op::expand, {c.In(from), c.b.Ints("shape", to)}), kExact, ran);
}

void Gather(Case& c, int* ran) {
  const Dims d = SomeDims(c, 2, 4, 20);
  const std::uint64_t axis = c.r.Below(d.size());
  std::vector<std::int64_t> picks(static_cast<std::size_t>(c.Size(1, 6)));
  for (std::int64_t& k : picks) k = c.Size(-d[axis], d[axis] - 1);
  Dims shape = {static_cast<std::int64_t>(picks.size())};
  if (c.r.OneIn(3)) {
    picks.resize(1);
    shape = {};
  }
  const ir::ValueId indices =
      c.b.Constant("i", tensor::Value::FromVector(DType::kI64, shape, picks));
  ir::ValueId x = c.In(d);
  if (c.r.OneIn(2)) x = c.b.Op(op::relu, {x});
  ir::ValueId y =
      c.b.Op(op::gather, {x, indices}, ir::AttrsOf({{"axis", static_cast<std::int64_t>(axis)}}));
  if (c.r.OneIn(2)) y = c.b.Op(op::relu, {y});
  c.Finish(y, kExact, ran);
}

// Several dimensions, steps, backwards.
void Slices(Case& c, int* ran) {
  const Dims d = SomeDims(c, 1, 4, 20);
  std::vector<std::int64_t> starts, ends, axes, steps;
  for (std::size_t i = 0; i < d.size(); ++i) {
    if (c.r.OneIn(3)) continue;
    const std::int64_t from = c.Size(0, d[i] - 1), to = c.Size(from + 1, d[i]);
    const bool back = c.r.OneIn(4);
    axes.push_back(static_cast<std::int64_t>(i));
    steps.push_back((back ? -1 : 1) * c.Size(1, 3));
    starts.push_back(back ? to - 1 : from);
    ends.push_back(back ? from - 1 - d[i] : to);
  }
  if (axes.empty()) return void(++*ran);
  ir::ValueId y = c.b.Op(op::slice, {c.In(d), c.b.Ints("s", starts), c.b.Ints("e", ends),
                                     c.b.Ints("a", axes), c.b.Ints("t", steps)});
  // What reads a part must not see the lanes beside it.
  if (c.r.OneIn(2)) y = c.b.Op(op::reduce_sum, {y}, ir::AttrsOf({{"axes", ops::Ints{-1}}}));
  c.Finish(y, kArithmetic, ran);
}

// Any dimensions of 1 on either side.
void Broadcast(Case& c, int* ran) {
  const Dims d = SomeDims(c, 1, 4, 20);
  Dims sides[2] = {d, d};
  for (Dims& s : sides) {
    for (std::int64_t& n : s) {
      if (c.r.OneIn(3)) n = 1;
    }
    s.erase(s.begin(), s.begin() + static_cast<std::ptrdiff_t>(c.r.Below(s.size())));
  }
  const ops::OpDef* const binary[] = {&op::add, &op::sub, &op::mul, &op::div, &op::max, &op::min};
  const ir::ValueId x = c.In(sides[0], 0.5, 1);
  const ir::ValueId z =
      c.r.OneIn(2) ? c.In(sides[1], 0.5, 1)
                   : c.b.Floats("z", sides[1], c.Values(*tensor::ElementCount(sides[1]), 0.5, 1));
  c.Finish(c.b.Op(*binary[c.r.Below(6)], {x, z}), kArithmetic, ran);
}

void GroupConv(Case& c, int* ran) {
  const std::int64_t group = c.Size(2, 6), in = c.r.OneIn(3) ? 16 : c.Size(1, 20),
                     out = c.r.OneIn(3) ? 32 : c.Size(1, 20), k = c.Size(1, 3);
  ops::Attrs a = ir::AttrsOf({{"group", group},
                              {"strides", ops::Ints{c.Size(1, 2), c.Size(1, 2)}},
                              {"pads", ops::Ints{k / 2, k / 2, k / 2, k / 2}},
                              {"layout", std::string("NHWC")}});
  const double scale = 1.0 / std::sqrt(static_cast<double>(in * k * k));
  std::vector<ir::ValueId> x = {c.In({c.Size(1, 2), c.Size(3, 12), c.Size(3, 20), group * in}),
                                c.Weights({group * out, in, k, k}, scale)};
  if (c.r.OneIn(2)) x.push_back(c.Weights({group * out}, 1));
  const ir::ValueId y = c.b.Op(op::conv2d, x, a);
  c.Epilogue(c.b.graph().value(y).type.dims());
  c.Finish(y, kArithmetic, ran);
}

// As attention takes heads off the last dimension and puts them back.
void Heads(Case& c, int* ran) {
  const std::int64_t batch = c.Size(1, 2), rows = c.Size(1, 70), heads = c.Size(1, 5),
                     width = c.r.OneIn(3) ? c.Size(1, 40) : 16 * c.Size(1, 3);
  const ops::Attrs swap = ir::AttrsOf({{"perm", ops::Ints{0, 2, 1, 3}}});
  ir::ValueId y = c.In({batch, rows, heads * width});
  if (c.r.OneIn(2)) y = c.b.Op(op::relu, {y});
  y = c.b.Op(op::reshape, {y, c.b.Ints("s", {batch, rows, heads, width})});
  y = c.b.Op(op::transpose, {y}, swap);
  if (c.r.OneIn(2)) {
    y = c.b.Op(op::mul, {y, c.b.Floats("c", {heads, 1, width}, c.Values(heads * width, -1, 1))});
  }
  if (c.r.OneIn(2)) {
    y = c.b.Op(op::transpose, {y}, swap);
    y = c.b.Op(op::reshape, {y, c.b.Ints("t", {batch * rows, heads * width})});
  }
  c.Finish(y, kArithmetic, ran);
}

constexpr Kind kKinds[] = {
    {"Heads", Heads, 30, 1.0},
    {"LayerNorm", LayerNorm, 30, 0.9},
    {"Reduce", Reduce, 60, 0.8},
    {"LongSoftmax", LongSoftmax, 3, 1.0},
    {"Pad", Pad, 40, 0.9},
    {"Tile", Tile, 20, 1.0},
    {"Expand", Expand, 25, 1.0},
    {"Gather", Gather, 40, 1.0},
    {"Slices", Slices, 40, 0.8},
    {"Broadcast", Broadcast, 50, 1.0},
    {"GroupConv", GroupConv, 25, 0.9},
};
NPUKIT_NPU_KINDS(NpuOperators, kKinds);

// Nothing to sum, but without its dimension the rows become channels.
TEST(NpuReduce, TakesALastDimensionOfOne) {
  Random random(5);
  const Subject subject = SubjectOf(Chip("kirin9030"));
  int ran = 0, cases = 0;
  for (const ops::OpDef* op : {&op::reduce_mean, &op::reduce_sum, &op::reduce_max}) {
    for (const Dims& dims : {Dims{13, 1}, Dims{4, 5, 1}, Dims{7, 13, 31, 1}, Dims{40, 1}}) {
      for (const std::int64_t keep : {0, 1}) {
        Case c(random, subject);
        const ir::ValueId x = c.In(dims);
        const std::int64_t axis = static_cast<std::int64_t>(dims.size()) - 1;
        const ir::ValueId y = c.b.Op(
            *op, {x}, ir::AttrsOf({{"axes", std::vector<std::int64_t>{axis}}, {"keepdims", keep}}));
        c.Finish(c.b.Op(op::neg, {y}), kExact, &ran);
        ++cases;
      }
    }
  }
  EXPECT_EQ(ran, cases);
}

// The verdict names the constant that fp16 makes infinite; single numbers stay fp32.
TEST(NpuVerdict, NamesAConstantThatFp16CannotHold) {
  ir::Builder b;
  const ir::ValueId x = b.Input("x", DType::kF32, Dims{1, 4, 4, 2});
  b.Op(op::mul, {x, b.Floats("huge", {2}, {1, 70000})});
  b.Op(op::mul, {x, b.Floats("one", {}, {70000})});
  b.Op(op::mul, {x, b.Floats("infinite", {2}, {1, INFINITY})});
  b.Op(op::conv2d, {x, b.Floats("depthwise", {2, 1, 1, 1}, {1e5f, 1})},
       ir::AttrsOf({{"group", std::int64_t{2}}, {"layout", std::string("NHWC")}}));
  b.Op(op::conv2d, {x, b.Floats("scaled", {1, 2, 1, 1}, {1e5f, 1})},
       ir::AttrsOf({{"layout", std::string("NHWC")}}));
  const ir::ValueId y =
      b.Op(op::concat, {x, b.Floats("part", {1, 4, 4, 1}, std::vector<float>(16, -1e6f))},
           ir::AttrsOf({{"axis", std::int64_t{3}}}));
  const ir::Graph g = b.Finish({y});
  const auto lowering = devices::npu_sim::MakeLowering();
  const std::string_view code[] = {"constant_too_large", "", "",
                                   "constant_too_large", "", "constant_too_large"};
  for (std::size_t i = 0; i < g.nodes.size(); ++i) {
    const target::Verdict v = lowering->Supports(g, g.nodes[i], Chip("kirin9030"));
    EXPECT_EQ(v.code, code[i]) << g.nodes[i].name;
    EXPECT_EQ(v.supported, code[i].empty()) << g.nodes[i].name;
  }
  EXPECT_NE(lowering->Supports(g, g.nodes[0], Chip("kirin9030")).found.find("huge holds 70000"),
            std::string::npos);
}

}  // namespace
}  // namespace npukit
