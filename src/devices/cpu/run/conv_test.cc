#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "devices/cpu/run/epilogue_test.h"

namespace npukit::devices::cpu {
namespace {

using tensor::Dims;
using tensor::DType;
using tensor::Value;

struct ConvCase {
  std::int64_t n = 1, h = 8, w = 8, c = 3, o = 16, kh = 3, kw = 3, group = 1;
  ops::Ints strides = {1, 1}, pads = {1, 1, 1, 1}, dilations = {1, 1};
  bool bias = true;
  bool transposed = false;
};

std::string Name(const ConvCase& c) {
  return Cat(c.transposed ? "deconv " : "conv ", c.n, "x", c.h, "x", c.w, "x", c.c, " o ", c.o,
             " k ", c.kh, "x", c.kw, " g ", c.group, " s ", JoinInts(c.strides, ","), " p ",
             JoinInts(c.pads, ","), " d ", JoinInts(c.dilations, ","));
}

TestStep MakeConv(const ConvCase& c, Random& random) {
  TestStep s;
  s.op = c.transposed ? &op::conv_transpose2d : &op::conv2d;
  s.attrs.Set("layout", std::string("NHWC"));
  s.attrs.Set("strides", c.strides);
  s.attrs.Set("pads", c.pads);
  s.attrs.Set("dilations", c.dilations);
  s.attrs.Set("group", c.group);
  const bool depthwise = !c.transposed && c.group > 1 && c.group == c.c && c.o == c.c;
  const bool pixelwise = c.transposed && c.group == 1 && c.strides == ops::Ints{c.kh, c.kw} &&
                         c.pads == ops::Ints(4, 0) && c.dilations == ops::Ints{1, 1};
  const Layout layout = pixelwise      ? Layout::kDeconvRow
                        : c.transposed ? Layout::kDeconv
                        : depthwise    ? Layout::kDepthwise
                                       : Layout::kConv;
  const Dims w =
      c.transposed ? Dims{c.c, c.o / c.group, c.kh, c.kw} : Dims{c.o, c.c / c.group, c.kh, c.kw};
  s.inputs = {{.value = random.Floats({c.n, c.h, c.w, c.c})},
              {.value = random.Floats(w),
               .constant = true,
               .layout = layout,
               .groups = static_cast<std::uint32_t>(c.group)}};
  if (c.bias)
    s.inputs.push_back({.value = random.Floats({c.o}), .constant = true, .layout = Layout::kPad16});
  return s;
}

void Check(const ConvCase& c, Random& random, bool epilogue) {
  SCOPED_TRACE(Name(c));
  TestStep s = MakeConv(c, random);
  std::vector<tensor::Type> types;
  for (const TestInput& in : s.inputs) types.push_back(in.value.type());
  std::vector<const Value*> constants(types.size(), nullptr);
  std::vector<tensor::Type> out(1);
  ASSERT_TRUE(ops::Infer(*s.op, s.attrs, {}, types, constants, out).ok());
  if (epilogue) AddEpilogue(s, out[0].dims(), random);
  const bool depthwise = s.inputs[1].layout == Layout::kDepthwise;
  ExpectLikeReference(s,
                      c.transposed ? "deconv_f32"
                      : depthwise  ? "depthwise_f32"
                                   : "conv_f32",
                      5e-6);
}

TEST(ConvKernels, AgreeWithTheReferenceOnPpOcrShapes) {
  Random random(11);
  const ConvCase cases[] = {
      {.h = 17, .w = 33, .c = 3, .o = 16, .strides = {2, 2}},                       // first layer
      {.h = 9, .w = 40, .c = 16, .o = 32, .kh = 1, .kw = 1, .pads = {0, 0, 0, 0}},  // pointwise
      {.h = 12, .w = 12, .c = 24, .o = 6},  // 3x3 to few channels
      {.h = 1,
       .w = 1,
       .c = 120,
       .o = 480,
       .kh = 1,
       .kw = 1,
       .pads = {0, 0, 0, 0}},  // squeeze-excite
      {.h = 1, .w = 20, .c = 48, .o = 56, .kh = 1, .kw = 3, .pads = {0, 1, 0, 1}},  // 1x3
      {.h = 10,
       .w = 11,
       .c = 40,
       .o = 40,
       .kh = 5,
       .kw = 5,
       .group = 40,
       .strides = {2, 1},
       .pads = {2, 2, 2, 2}},
      {.h = 10, .w = 21, .c = 16, .o = 16, .group = 16},
      {.h = 5,
       .w = 7,
       .c = 24,
       .o = 24,
       .kh = 2,
       .kw = 2,
       .strides = {2, 2},
       .pads = {0, 0, 0, 0},
       .transposed = true},
      {.h = 5,
       .w = 70,
       .c = 24,
       .o = 1,
       .kh = 2,
       .kw = 2,
       .strides = {2, 2},
       .pads = {0, 0, 0, 0},
       .transposed = true},
      {.n = 2,
       .h = 4,
       .w = 6,
       .c = 5,
       .o = 7,
       .kh = 1,
       .kw = 3,
       .strides = {1, 3},
       .pads = {0, 0, 0, 0},
       .transposed = true},
      {.n = 2,
       .h = 4,
       .w = 6,
       .c = 5,
       .o = 7,
       .kh = 3,
       .kw = 1,
       .strides = {3, 1},
       .pads = {0, 0, 0, 0},
       .transposed = true},
  };
  for (const ConvCase& c : cases) {
    Check(c, random, false);
    Check(c, random, true);
  }
}

TEST(ConvKernels, AgreeWithTheReferenceOnRandomShapes) {
  Random random(12);
  for (int i = 0; i < 60; ++i) {
    ConvCase c;
    c.transposed = i % 3 == 0;
    c.group = random.Int(0, 3) == 0 ? random.Int(2, 3) : 1;
    c.n = random.Int(1, 2);
    c.c = c.group * random.Int(1, 21);
    c.o = c.group * random.Int(1, 37);
    c.h = random.Int(1, 9);
    c.w = random.Int(1, 27);
    c.kh = random.Int(1, 4);
    c.kw = random.Int(1, 4);
    c.strides = {random.Int(1, 3), random.Int(1, 3)};
    c.dilations = {random.Int(1, 2), random.Int(1, 2)};
    const std::int64_t eh = (c.kh - 1) * c.dilations[0], ew = (c.kw - 1) * c.dilations[1];
    if (c.transposed) {
      c.pads = {random.Int(0, eh / 2), random.Int(0, ew / 2), random.Int(0, eh / 2),
                random.Int(0, ew / 2)};
    } else {
      c.pads = {random.Int(0, eh + 1), random.Int(0, ew + 1), eh, ew};
    }
    c.bias = random.Coin();
    Check(c, random, random.Coin());
  }
}

TEST(ConvKernels, AgreeWithTheReferenceOnRandomDepthwiseShapes) {
  Random random(13);
  for (int i = 0; i < 40; ++i) {
    ConvCase c;
    c.c = c.o = c.group = random.Int(2, 70);
    c.n = random.Int(1, 2);
    c.h = random.Int(1, 9);
    c.w = random.Int(1, 30);
    c.kh = random.Int(1, 5);
    c.kw = random.Int(1, 5);
    c.strides = {random.Int(1, 2), random.Int(1, 3)};
    c.dilations = {random.Int(1, 2), random.Int(1, 2)};
    const std::int64_t eh = (c.kh - 1) * c.dilations[0], ew = (c.kw - 1) * c.dilations[1];
    c.pads = {random.Int(0, eh), random.Int(0, ew), eh, ew};
    c.bias = random.Coin();
    Check(c, random, random.Coin());
  }
}

TEST(ConvKernels, UnpackWeightsForTheReferenceWhereNoKernelFits) {
  Random random(14);
  TestStep s = MakeConv({.h = 5, .w = 5, .c = 4, .o = 6}, random);
  s.attrs.Set("layout", std::string("NCHW"));
  s.inputs[0].value = random.Floats({1, 4, 5, 5});
  ExpectLikeReference(s, "reference");
}

TEST(ConvKernels, KeepNaNAndInfinityWhereTheReferenceDoes) {
  Random random(15);
  TestStep s = MakeConv({.h = 6, .w = 19, .c = 5, .o = 18}, random);
  s.inputs[0].value.as_mutable<float>()[7] = NAN;
  s.inputs[0].value.as_mutable<float>()[200] = INFINITY;
  s.epilogue.push_back({&op::relu, {}, -1, false});
  ExpectLikeReference(s, "conv_f32", 5e-6);
}

TEST(ConvKernels, GiveTheSameBitsOnEveryFmaTargetAndThreadCount) {
  Random random(17);
  ThreadPool one(1), four(4);
  for (const ConvCase& c :
       {ConvCase{.h = 20, .w = 45, .c = 19, .o = 56}, ConvCase{.h = 3, .w = 3, .c = 64, .o = 400},
        ConvCase{.h = 9, .w = 31, .c = 24, .o = 24, .group = 24},
        ConvCase{.h = 6, .w = 9, .c = 8, .o = 20, .strides = {2, 2}, .transposed = true}}) {
    SCOPED_TRACE(Name(c));
    const TestStep s = MakeConv(c, random);
    std::vector<float> first;
    for (const Target t : SupportedTargets()) {
      if (t == Target::kScalar) continue;  // rounds products too
      for (ThreadPool* pool : {&one, &four}) {
        const auto run = RunOnDevice(s, t, *pool, true);
        ASSERT_TRUE(run.ok()) << run.status().message();
        const auto y = run->outputs[0].as<float>();
        if (first.empty()) first.assign(y.begin(), y.end());
        EXPECT_TRUE(std::equal(y.begin(), y.end(), first.begin()))
            << TargetName(t) << " " << pool->threads();
      }
    }
  }
}

TEST(MatmulKernels, AgreeWithTheReference) {
  Random random(16);
  for (int i = 0; i < 40; ++i) {
    const std::int64_t m = random.Int(1, 45), k = random.Int(1, 70), n = random.Int(1, 120),
                       batch = random.Int(1, 3);
    TestStep s;
    s.op = &op::matmul;
    const int form = static_cast<int>(random.Int(0, 4));
    Dims a = {batch, m, k}, b = {k, n};
    if (form == 1) b = {batch, k, n};
    if (form == 2) b = {1, k, n};
    if (form == 3) a = {m, k};
    if (form == 4) a = {2, 1, m, k}, b = {batch, k, n};
    const bool constant = random.Coin();
    s.inputs = {{.value = random.Floats(a)},
                {.value = random.Floats(b),
                 .constant = constant,
                 .layout = constant ? Layout::kMatmul : Layout::kRaw}};
    const bool bias = random.Coin();
    if (bias)
      s.inputs.push_back({.value = random.Floats({n}), .constant = true, .layout = Layout::kPad16});
    if (random.Coin()) {
      if (!bias) s.inputs.emplace_back();
      s.epilogue.push_back({&op::swish, {}, -1, false});
      s.epilogue.push_back({&op::add, {}, static_cast<int>(s.inputs.size()), false});
      s.inputs.push_back({.value = random.Floats({m, n})});
      if (a.size() > 2) s.epilogue.pop_back(), s.inputs.pop_back();
    }
    SCOPED_TRACE(Cat("form ", form, " m ", m, " k ", k, " n ", n, " constant ", constant));
    const bool one = constant && form != 1 && form != 4;
    ExpectLikeReference(s, one || (constant && batch == 1) ? "matmul_f32" : "batch_matmul_f32",
                        5e-6);
  }
}

}  // namespace
}  // namespace npukit::devices::cpu
