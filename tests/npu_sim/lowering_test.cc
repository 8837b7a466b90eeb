// Every lowering of the simulated NPU against the operators' references, on random shapes and
// attributes, for chips with 16-bit and 32-bit accumulators and for one whose buffers are so small
// that everything is cut into many tiles.
#include "devices/npu_sim/lower/lowering.h"

#include "case.h"

namespace npukit {
namespace {

void Conv(Case& c, int* ran) {
  const bool depthwise = c.r.OneIn(3);
  const std::int64_t n = c.Size(1, 2), h = c.Size(1, 20), w = c.Size(1, 40), ch = c.Size(1, 70);
  const std::int64_t kh = c.Size(1, std::min<std::int64_t>(5, h + 1)),
                     kw = c.Size(1, std::min<std::int64_t>(5, w + 1));
  const std::int64_t out = depthwise ? ch : c.Size(1, 70), group = depthwise ? ch : 1;
  ops::Attrs a = ir::AttrsOf(
      {{"strides", ops::Ints{c.Size(1, 3), c.Size(1, 3)}},
       {"pads", ops::Ints{c.Size(kh > h, kh - 1 + (kh == 1)), c.Size(kw > w, kw - 1 + (kw == 1)),
                          c.Size(0, 2), c.Size(0, 2)}},
       {"dilations", ops::Ints{kh > 1 && 2 * kh < h ? c.Size(1, 2) : 1,
                               kw > 1 && 2 * kw < w ? c.Size(1, 2) : 1}},
       {"group", group},
       {"layout", std::string("NHWC")}});
  const double scale = 1.0 / std::sqrt(static_cast<double>(kh * kw * (depthwise ? 1 : ch)));
  std::vector<ir::ValueId> in = {c.In({n, h, w, ch}),
                                 c.Weights({out, depthwise ? 1 : ch, kh, kw}, scale)};
  if (c.r.OneIn(2)) in.push_back(c.Weights({out}, 1));
  const ir::ValueId y = c.b.Op(op::conv2d, in, a);
  c.Epilogue(c.b.graph().value(y).type.dims());
  c.Finish(y, kArithmetic, ran);
}

void ConvTranspose(Case& c, int* ran) {
  const std::int64_t k = c.Size(1, 3), ch = c.Size(1, 40), out = c.Size(1, 40);
  ops::Attrs a = ir::AttrsOf({{"strides", ops::Ints{k, k}}, {"layout", std::string("NHWC")}});
  std::vector<ir::ValueId> in = {
      c.In({c.Size(1, 2), c.Size(1, 9), c.Size(1, 30), ch}),
      c.Weights({ch, out, k, k}, 1.0 / std::sqrt(static_cast<double>(ch)))};
  if (c.r.OneIn(2)) in.push_back(c.Weights({out}, 1));
  const ir::ValueId y = c.b.Op(op::conv_transpose2d, in, a);
  c.Epilogue(c.b.graph().value(y).type.dims());
  c.Finish(y, kArithmetic, ran);
}

void MatMul(Case& c, int* ran) {
  const std::int64_t m = c.Size(1, 50), k = c.Size(1, 70), n = c.Size(1, 90);
  const double scale = 1.0 / std::sqrt(static_cast<double>(k));
  ir::ValueId y = ir::kNoValue;
  switch (c.r.Below(3)) {
    case 0: {
      std::vector<ir::ValueId> in = {c.In({c.Size(1, 2), m, k}), c.Weights({k, n}, scale)};
      if (c.r.OneIn(2)) in.push_back(c.Weights({n}, 1));
      y = c.b.Op(op::matmul, in);
      break;
    }
    case 1: {
      const std::int64_t batch = c.Size(1, 3), heads = c.Size(1, 3);
      y = c.b.Op(op::matmul,
                 {c.In({batch, heads, m, k}), c.In({batch, heads, k, n}, -scale, scale)});
      break;
    }
    default: {  // as attention spells it: the second operand transposed
      const std::int64_t heads = c.Size(1, 3);
      const ir::ValueId t = c.b.Op(op::transpose, {c.In({1, heads, n, k}, -scale, scale)},
                                   ir::AttrsOf({{"perm", ops::Ints{0, 1, 3, 2}}}));
      y = c.b.Op(op::matmul, {c.In({1, heads, m, k}), t});
    }
  }
  c.Epilogue(c.b.graph().value(y).type.dims());
  c.Finish(y, kArithmetic, ran);
}

void Chain(Case& c, int* ran) {
  const Dims d = RandomDims(c, 1, 4, 24);
  const ir::ValueId y = c.b.Op(op::chain, {c.In(d)});
  c.Epilogue(d);
  c.Finish(y, kArithmetic, ran);
}

void Binary(Case& c, int* ran) {
  const Dims d = RandomDims(c, 2, 4, 20);
  Dims other = d;
  const std::uint64_t kind = c.r.Below(4);
  if (kind == 0) other = {d.back()};
  if (kind == 1) other = {1};
  if (kind == 2) other.back() = 1;
  const ops::OpDef* const binary[] = {&op::add, &op::sub, &op::mul, &op::div};
  const ops::OpDef* o = binary[c.r.Below(4)];
  const ir::ValueId x = c.In(d, 0.5, 1), z = c.In(other, 0.5, 1);
  c.Finish(c.r.OneIn(2) ? c.b.Op(*o, {x, z}) : c.b.Op(*o, {z, x}), kArithmetic, ran);
}

void Pool(Case& c, int* ran) {
  const bool max = c.r.OneIn(2);
  const std::int64_t kh = c.Size(1, 3), kw = c.Size(1, 3);
  ops::Attrs a = ir::AttrsOf({{"kernel_shape", ops::Ints{kh, kw}},
                              {"strides", ops::Ints{c.Size(1, 3), c.Size(1, 3)}},
                              {"layout", std::string("NHWC")}});
  if (max)
    a.Set("pads",
          ops::Ints{c.Size(0, kh - 1), c.Size(0, kw - 1), c.Size(0, kh - 1), c.Size(0, kw - 1)});
  const ir::ValueId x = c.In({c.Size(1, 2), c.Size(kh, 20), c.Size(kw, 30), c.Size(1, 60)});
  c.Finish(c.b.Op(max ? op::max_pool2d : op::avg_pool2d, {x}, a), kArithmetic, ran);
}

void Reduce(Case& c, int* ran) {
  const Dims d = RandomDims(c, 2, 4, 24);
  const auto rank = static_cast<std::int64_t>(d.size());
  ops::Ints axes = {-1};
  if (c.r.OneIn(2)) {
    axes.clear();
    for (std::int64_t i = c.Size(0, rank - 2); i < rank - 1; ++i) axes.push_back(i);
  }
  c.Finish(c.b.Op(op::reduce_mean, {c.In(d)},
                  ir::AttrsOf({{"axes", axes}, {"keepdims", std::int64_t{1}}})),
           kArithmetic, ran);
}

void Softmax(Case& c, int* ran) {
  const Dims d = {c.Size(1, 3), c.Size(1, 20), c.Size(1, 200)};
  c.Finish(c.b.Op(op::softmax, {c.In(d, -8, 8)}, ir::AttrsOf({{"axis", std::int64_t{2}}})),
           kArithmetic, ran);
}

void Transpose(Case& c, int* ran) {
  const Dims d = RandomDims(c, 2, 5, 9);
  ops::Ints perm(d.size());
  for (std::size_t i = 0; i < perm.size(); ++i) perm[i] = static_cast<std::int64_t>(i);
  for (std::size_t i = perm.size() - 1; i > 0; --i) std::swap(perm[i], perm[c.r.Below(i + 1)]);
  // From the boundary, or from a value inside.
  ir::ValueId x = c.In(d);
  if (c.r.OneIn(2)) x = c.b.Op(op::relu, {x});
  c.Finish(c.b.Op(op::transpose, {x}, ir::AttrsOf({{"perm", perm}})), kExact, ran);
}

void Reshape(Case& c, int* ran) {
  const std::int64_t a = c.Size(1, 12), b = c.Size(1, 12), d = c.Size(1, 12);
  ir::ValueId x = c.In(c.r.OneIn(2) ? Dims{a, b * d} : Dims{a * b, d});
  if (c.r.OneIn(2)) x = c.b.Op(op::relu, {x});
  const std::vector<std::int64_t> to =
      c.r.OneIn(2) ? std::vector<std::int64_t>{a, b, d} : std::vector<std::int64_t>{b, a * d};
  ir::ValueId y = c.b.Op(op::reshape, {x, c.b.Ints("shape", to)});
  if (c.r.OneIn(2)) y = c.b.Op(op::relu, {y});
  c.Finish(y, kExact, ran);
}

void Concat(Case& c, int* ran) {
  Dims d = RandomDims(c, 2, 4, 20);
  const std::uint64_t axis = c.r.Below(d.size());
  std::vector<ir::ValueId> parts;
  for (std::int64_t i = c.Size(1, 4); i > 0; --i) {
    d[axis] = c.Size(1, 40);
    parts.push_back(c.In(d));
  }
  c.Finish(c.b.Op(op::concat, parts, ir::AttrsOf({{"axis", static_cast<std::int64_t>(axis)}})),
           kExact, ran);
}

void Slice(Case& c, int* ran) {
  const Dims d = RandomDims(c, 2, 4, 40);
  const std::uint64_t axis = c.r.Below(d.size());
  const std::int64_t from = c.Size(0, d[axis] - 1), to = c.Size(from + 1, d[axis]);
  ir::ValueId y = c.b.Op(op::slice, {c.In(d), c.b.Ints("s", {from}), c.b.Ints("e", {to}),
                                     c.b.Ints("a", {static_cast<std::int64_t>(axis)})});
  if (c.r.OneIn(2)) y = c.b.Op(op::relu, {y});
  c.Finish(y, kExact, ran);
}

void Resize(Case& c, int* ran) {
  const std::int64_t h = c.Size(1, 12), w = c.Size(1, 20), ch = c.Size(1, 40), n = c.Size(1, 2);
  const ir::ValueId scales = c.b.Floats(
      "scales", {4}, {1, 1, static_cast<float>(c.Size(1, 4)), static_cast<float>(c.Size(1, 4))});
  c.Finish(c.b.Op(op::resize, {c.In({n, h, w, ch}), scales},
                  ir::AttrsOf({{"mode", std::string("nearest")},
                               {"coordinate_transformation_mode", std::string("asymmetric")},
                               {"nearest_mode", std::string("floor")},
                               {"layout", std::string("NHWC")}})),
           kExact, ran);
}

constexpr Kind kKinds[] = {
    {"Conv", Conv, 60, 0.8},           {"ConvTranspose", ConvTranspose, 20, 0.9},
    {"MatMul", MatMul, 40, 0.6},       {"Chain", Chain, 60, 0.9},
    {"Binary", Binary, 40, 0.9},       {"Pool", Pool, 30, 0.5},
    {"Reduce", Reduce, 30, 0.9},       {"Softmax", Softmax, 15, 1.0},
    {"Transpose", Transpose, 60, 0.6}, {"Reshape", Reshape, 30, 1.0},
    {"Concat", Concat, 30, 1.0},       {"Slice", Slice, 30, 1.0},
    {"Resize", Resize, 20, 1.0},
};

NPUKIT_NPU_KINDS(NpuLowering, kKinds);

// The limit of a copied profile decides, and the verdict names it.
TEST(NpuVerdict, NamesTheFactThatALowerLimitMakes) {
  target::Profile profile = Chip("kirin9030");
  ir::Builder b;
  const ir::ValueId x = b.Input("x", DType::kF32, Dims{1, 8, 8, 16});
  const ir::ValueId y =
      b.Op(op::conv2d, {x, b.Floats("w", {16, 16, 5, 5}, std::vector<float>(6400, 0.1f))},
           ir::AttrsOf({{"pads", ops::Ints{2, 2, 2, 2}}, {"layout", std::string("NHWC")}}));
  const ir::Graph g = b.Finish({y});
  const auto lowering = devices::npu_sim::MakeLowering();
  EXPECT_TRUE(lowering->Supports(g, g.nodes[0], profile).supported);
  ASSERT_TRUE(profile.Set("npu.op.conv2d.max_kernel", "4").ok());
  const target::Verdict v = lowering->Supports(g, g.nodes[0], profile);
  EXPECT_FALSE(v.supported);
  EXPECT_EQ(v.code, "kernel_too_large");
  EXPECT_EQ(v.fact, "npu.op.conv2d.max_kernel");
  EXPECT_EQ(v.limit, "4");
  EXPECT_EQ(v.found, "5");
  ASSERT_TRUE(profile.Set("npu.op.conv2d.max_kernel", "5").ok());
  EXPECT_TRUE(lowering->Supports(g, g.nodes[0], profile).supported);
  ASSERT_TRUE(profile.Set("npu.ub_bytes", "512").ok());
  ASSERT_TRUE(profile.Set("npu.sram_bytes", "1024").ok());
  const target::Verdict tile = lowering->Supports(g, g.nodes[0], profile);
  EXPECT_EQ(tile.code, "tile_does_not_fit");
  EXPECT_EQ(tile.fact, "npu.sram_bytes");
}

// Equal graphs give equal bytes.
TEST(NpuLoweringBytes, AreTheSameEveryTime) {
  const target::Profile profile = Chip("kirin9030");
  const auto lower = [&] {
    ir::Builder b;
    const ir::ValueId x = b.Input("x", DType::kF32, Dims{1, 9, 9, 20});
    const ir::ValueId y =
        b.Op(op::conv2d, {x, b.Floats("w", {24, 20, 3, 3}, std::vector<float>(4320, 0.25f))},
             ir::AttrsOf({{"pads", ops::Ints{1, 1, 1, 1}}, {"layout", std::string("NHWC")}}));
    return devices::npu_sim::MakeLowering()->Lower(b.Finish({y}), profile, {});
  };
  const auto first = lower(), second = lower();
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(first->blob, second->blob);
  ASSERT_EQ(first->weights.size(), second->weights.size());
  for (std::size_t i = 0; i < first->weights.size(); ++i) {
    const auto a = first->weights[i].kept.bytes, b = second->weights[i].kept.bytes;
    EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin(), b.end()));
  }
}

}  // namespace
}  // namespace npukit
