#include <gtest/gtest.h>

#include <cmath>

#include "devices/cpu/run/step_test.h"

namespace npukit::devices::cpu {
namespace {

using tensor::Dims;
using tensor::DType;
using tensor::Value;

// Values at and around everything an activation treats specially.
Value Edges(std::int64_t n, Random& random) {
  Value v = random.Floats({n}, -9, 9);
  const float special[] = {0.0f, -0.0f, 3,  -3,   6,     -6,     1e-30f,   -1e-30f,
                           88,   -88,   90, -104, 1e30f, -1e30f, INFINITY, NAN};
  for (std::int64_t i = 0; i < n && i < 16; ++i)
    v.as_mutable<float>()[static_cast<std::size_t>(i)] = special[i];
  return v;
}

TEST(ElementwiseKernels, AgreeWithTheReferenceOnActivations) {
  Random random(21);
  for (const ops::OpDef* op :
       {&op::relu, &op::sigmoid, &op::hard_sigmoid, &op::hard_swish, &op::swish, &op::clip,
        &op::abs, &op::neg, &op::exp, &op::erf, &op::tanh, &op::gelu, &op::leaky_relu, &op::elu,
        &op::floor, &op::ceil, &op::round, &op::reciprocal}) {
    for (const std::int64_t n : {1, 7, 16, 33, 1000}) {
      SCOPED_TRACE(Cat(op->name, " ", n));
      TestStep s{.op = op, .attrs = {}, .epilogue = {}, .inputs = {{.value = Edges(n, random)}}};
      if (op == &op::clip) s.attrs.Set("max", 2.5f);
      // Each element by its own size: no large neighbour may hide an error. (Near x = -3 hard_swish
      // loses digits to x / 6 + 0.5.)
      const auto expected = RunByReference(s);
      ASSERT_TRUE(expected.ok());
      ThreadPool pool(2);
      for (const Target t : SupportedTargets()) {
        const auto run = RunOnDevice(s, t, pool, true);
        ASSERT_TRUE(run.ok()) << run.status().message();
        EXPECT_EQ(run->kernel, "elementwise_f32");
        const Status same = testing::SameValue(run->outputs[0], (*expected)[0], {3e-7, 1e-6});
        EXPECT_TRUE(same.ok()) << TargetName(t) << ": " << same.message();
      }
    }
  }
}

TEST(ElementwiseKernels, AgreeWithTheReferenceOnGeluByTanh) {
  Random random(31);
  TestStep s{
      .op = &op::gelu, .attrs = {}, .epilogue = {}, .inputs = {{.value = Edges(777, random)}}};
  s.attrs.Set("approximate", std::string("tanh"));
  ExpectLikeReference(s, "elementwise_f32", 1e-6);
}

// Where one formula takes over from another nothing may jump: every value on both sides of the
// seams.
TEST(ElementwiseKernels, HaveNoSeams) {
  for (const ops::OpDef* op : {&op::erf, &op::tanh, &op::gelu}) {
    for (const float seam : {0.6f, 1.0f, 1.41421354f, 4.2f, 5.93969727f}) {
      Value v = Value::Allocate(DType::kF32, {400}).value();
      float x = seam;
      for (int i = 0; i < 100; ++i) x = std::nextafter(x, 0.0f);
      for (std::size_t i = 0; i < 400; i += 2, x = std::nextafter(x, 9.0f)) {
        v.as_mutable<float>()[i] = x;
        v.as_mutable<float>()[i + 1] = -x;
      }
      SCOPED_TRACE(Cat(op->name, " at ", seam));
      ExpectLikeReference({.op = op, .attrs = {}, .epilogue = {}, .inputs = {{.value = v}}},
                          "elementwise_f32", 5e-7);
    }
  }
}

TEST(ElementwiseKernels, AgreeWithTheReferenceOnEveryBroadcast) {
  Random random(22);
  const struct {
    Dims a, b;
  } shapes[] = {{{2, 5, 7, 19}, {2, 5, 7, 19}},
                {{2, 5, 7, 19}, {}},
                {{2, 5, 7, 19}, {19}},
                {{2, 5, 7, 19}, {2, 1, 1, 19}},
                {{2, 5, 7, 19}, {2, 5, 7, 1}},
                {{2, 5, 7, 19}, {5, 1, 1}},
                {{2, 5, 7, 19}, {1, 5, 1, 19}},
                {{5, 1}, {1, 33}},
                {{1, 3, 1}, {4, 1, 6}},
                {{3, 16, 1, 1}, {3, 16, 4, 5}},
                {{1}, {1}},
                {{}, {}}};
  for (const ops::OpDef* op :
       {&op::add, &op::sub, &op::mul, &op::div, &op::min, &op::max, &op::prelu}) {
    for (const auto& shape : shapes) {
      for (const bool swap : {false, true}) {
        SCOPED_TRACE(
            Cat(op->name, " [", JoinInts(shape.a, ","), "] [", JoinInts(shape.b, ","), "] ", swap));
        TestInput a{.value = random.Floats(shape.a, 1, 3)},
            b{.value = random.Floats(shape.b, 1, 3), .constant = random.Coin()};
        if (swap) std::swap(a, b);
        ExpectLikeReference({.op = op, .attrs = {}, .epilogue = {}, .inputs = {a, b}}, "", 1e-6);
      }
    }
  }
}

TEST(ElementwiseKernels, RunWholeChainsInOnePass) {
  Random random(23);
  const Dims y = {2, 3, 50, 40};
  TestStep s{
      .op = &op::chain, .attrs = {}, .epilogue = {}, .inputs = {{.value = random.Floats(y)}}};
  s.inputs.push_back({.value = random.Floats({}), .constant = true});
  s.inputs.push_back({.value = random.Floats({2, 1, 1, 40})});
  s.inputs.push_back({.value = random.Floats(y)});
  s.epilogue = {{&op::mul, {}, 1, false},
                {&op::hard_swish, {}, -1, false},
                {&op::mul, {}, 2, false},
                {&op::sub, {}, 3, true}};
  ExpectLikeReference(s, "elementwise_f32");
}

TEST(ElementwiseKernels, SquareForAPowerOfTwo) {
  Random random(24);
  TestStep s{
      .op = &op::pow, .attrs = {}, .epilogue = {}, .inputs = {{.value = random.Floats({3, 40})}}};
  s.inputs.push_back({.value = Value::Scalar(2), .constant = true});
  ExpectLikeReference(s, "elementwise_f32");
  s.inputs[1].value = Value::Scalar(3);
  ExpectLikeReference(s, "reference");
}

TEST(ElementwiseKernels, LetNaNWinInMinAndMax) {
  const Value a = Value::FromVector<float>(DType::kF32, {4}, {NAN, 1, 2, -INFINITY});
  const Value b = Value::FromVector<float>(DType::kF32, {4}, {0, NAN, 3, INFINITY});
  for (const ops::OpDef* op : {&op::min, &op::max}) {
    for (const Dims& dims : {Dims{4}, Dims{4, 1}}) {  // as one pass, and as a broadcast of rows
      TestStep s{.op = op, .attrs = {}, .epilogue = {}, .inputs = {{.value = a.Reshaped(dims)}}};
      s.inputs.push_back({.value = b});
      ExpectLikeReference(s, dims.size() == 1 ? "elementwise_f32" : "broadcast_f32");
    }
  }
}

TEST(ReduceKernels, AgreeWithTheReferenceOnLayerNormalization) {
  Random random(32);
  const struct {
    Dims x;
    std::int64_t axis;
  } cases[] = {{{2, 7, 384}, -1}, {{3, 5}, 1}, {{1, 1}, 1}, {{4, 3, 33}, 1}, {{31}, 0}};
  for (const auto& c : cases) {
    for (const bool bias : {false, true}) {
      SCOPED_TRACE(Cat("[", JoinInts(c.x, ","), "] axis ", c.axis));
      const std::size_t axis = c.axis < 0 ? c.x.size() - 1 : static_cast<std::size_t>(c.axis);
      const Dims tail(c.x.begin() + static_cast<std::ptrdiff_t>(axis), c.x.end());
      TestStep s{.op = &op::layer_normalization, .attrs = {}, .epilogue = {}, .inputs = {}};
      s.inputs.push_back({.value = random.Floats(c.x, 9, 11)});  // far from zero on purpose
      s.inputs.push_back({.value = random.Floats(tail), .constant = true});
      if (bias) s.inputs.push_back({.value = random.Floats(tail)});
      s.attrs.Set("axis", c.axis);
      ExpectLikeReference(s, "layer_norm_f32", 1e-5);
    }
  }
}

TEST(ReduceKernels, AgreeWithTheReferenceOnMeans) {
  Random random(25);
  const struct {
    Dims x;
    ops::Ints axes;
  } cases[] = {
      {{2, 9, 11, 37}, {1, 2}}, {{1, 80, 80, 24}, {1, 2}}, {{2, 5, 123}, {-1}}, {{2, 5, 7}, {1, 2}},
      {{3, 16}, {0}},           {{4, 3, 200}, {}},         {{1, 1, 5}, {0, 2}}};
  for (const auto& c : cases) {
    for (const std::int64_t keep : {0, 1}) {
      SCOPED_TRACE(Cat("[", JoinInts(c.x, ","), "] axes ", JoinInts(c.axes, ",")));
      TestStep s{.op = &op::reduce_mean,
                 .attrs = {},
                 .epilogue = {},
                 .inputs = {{.value = random.Floats(c.x, 0, 5)}}};
      if (!c.axes.empty()) s.attrs.Set("axes", c.axes);
      s.attrs.Set("keepdims", keep);
      ExpectLikeReference(s, "mean_f32", 2e-6);
    }
  }
  TestStep apart{.op = &op::reduce_mean,
                 .attrs = {},
                 .epilogue = {},
                 .inputs = {{.value = random.Floats({3, 4, 5})}}};
  apart.attrs.Set("axes", ops::Ints{0, 2});
  ExpectLikeReference(apart, "reference");
}

TEST(ReduceKernels, AgreeWithTheReferenceOnSoftmax) {
  Random random(26);
  for (const Dims& x : {Dims{3, 1}, Dims{2, 3, 17}, Dims{5, 6625}, Dims{1, 2}, Dims{16}}) {
    TestStep s{.op = &op::softmax,
               .attrs = {},
               .epilogue = {},
               .inputs = {{.value = random.Floats(x, -30, 30)}}};
    ExpectLikeReference(s, "softmax_f32", 2e-6);
  }
  TestStep first{.op = &op::softmax,
                 .attrs = {},
                 .epilogue = {},
                 .inputs = {{.value = random.Floats({4, 5})}}};
  first.attrs.Set("axis", std::int64_t{0});
  ExpectLikeReference(first, "reference");
}

TEST(PoolKernels, AgreeWithTheReference) {
  Random random(27);
  for (int i = 0; i < 40; ++i) {
    TestStep s;
    s.op = random.Coin() ? &op::max_pool2d : &op::avg_pool2d;
    const std::int64_t kh = random.Int(1, 4), kw = random.Int(1, 4);
    s.attrs.Set("layout", std::string("NHWC"));
    s.attrs.Set("kernel_shape", ops::Ints{kh, kw});
    s.attrs.Set("strides", ops::Ints{random.Int(1, 3), random.Int(1, 3)});
    s.attrs.Set("pads", ops::Ints{random.Int(0, kh - 1), random.Int(0, kw - 1),
                                  random.Int(0, kh - 1), random.Int(0, kw - 1)});
    s.attrs.Set("ceil_mode", random.Int(0, 1));
    if (s.op == &op::avg_pool2d) s.attrs.Set("count_include_pad", random.Int(0, 1));
    s.inputs = {{.value = random.Floats(
                     {random.Int(1, 2), random.Int(4, 12), random.Int(4, 12), random.Int(1, 90)})}};
    if (i % 4 == 0) s.inputs[0].value.as_mutable<float>()[5] = NAN;
    SCOPED_TRACE(i);
    ExpectLikeReference(s, "pool_f32");
  }
}

TEST(ResizeKernels, AgreeWithTheReference) {
  Random random(28);
  for (const char* mode : {"nearest", "linear"}) {
    for (const char* coordinates :
         {"half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"}) {
      for (const auto& [sh, sw] :
           {std::pair{2.0f, 2.0f}, {4.0f, 1.0f}, {0.5f, 0.7f}, {1.0f, 3.3f}}) {
        TestStep s;
        s.op = &op::resize;
        s.attrs.Set("mode", std::string(mode));
        s.attrs.Set("coordinate_transformation_mode", std::string(coordinates));
        s.attrs.Set("layout", std::string("NHWC"));
        s.inputs = {{.value = random.Floats({2, 7, 9, 21})},
                    {.value = Value::FromVector<float>(DType::kF32, {4}, {1, 1, sh, sw}),
                     .constant = true}};
        SCOPED_TRACE(Cat(mode, " ", coordinates, " ", sh, " ", sw));
        ExpectLikeReference(s, "resize_f32");
      }
    }
  }
}

TEST(MoveKernels, AgreeWithTheReferenceOnTranspose) {
  Random random(29);
  const struct {
    Dims x;
    ops::Ints perm;
  } cases[] = {{{2, 3, 9, 11}, {0, 2, 3, 1}},
               {{2, 9, 11, 3}, {0, 3, 1, 2}},
               {{40, 3, 8, 15}, {1, 2, 0, 3}},
               {{5, 33}, {1, 0}},
               {{2, 3, 4, 5}, {3, 2, 1, 0}},
               {{1, 7, 1, 9}, {2, 3, 0, 1}},
               {{2, 4, 6}, {0, 1, 2}},
               {{2, 3, 20, 17}, {0, 1, 3, 2}},
               {{3, 1, 40, 8, 15}, {2, 0, 3, 1, 4}}};
  for (const auto& c : cases) {
    SCOPED_TRACE(Cat("[", JoinInts(c.x, ","), "] by ", JoinInts(c.perm, ",")));
    TestStep s{.op = &op::transpose,
               .attrs = {},
               .epilogue = {},
               .inputs = {{.value = random.Floats(c.x)}}};
    s.attrs.Set("perm", c.perm);
    ExpectLikeReference(s, "transpose", 0);
    for (const DType t : {DType::kU8, DType::kF16, DType::kI64}) {
      Value v = Value::Allocate(t, c.x).value();
      for (std::uint64_t i = 0; i < v.byte_size(); ++i)
        static_cast<std::uint8_t*>(v.mutable_data())[i] = static_cast<std::uint8_t>(i % 100);
      s.inputs[0].value = v;
      ExpectLikeReference(s, "transpose", 0);
    }
  }
}

TEST(MoveKernels, AgreeWithTheReferenceOnSliceAndConcat) {
  Random random(30);
  const auto list = [](std::vector<std::int64_t> v) {
    const Dims dims = {static_cast<std::int64_t>(v.size())};
    return TestInput{.value = Value::FromVector<std::int64_t>(DType::kI64, dims, v),
                     .constant = true};
  };
  const struct {
    std::vector<std::int64_t> starts, ends, axes, steps;
  } cuts[] = {{{1}, {3}, {0}, {1}},
              {{0, 2}, {4, -1}, {1, 2}, {1, 3}},
              {{-1}, {-100}, {2}, {-2}},
              {{1, 1}, {2, 5}, {0, 1}, {1, 2}},
              {{0}, {1000}, {1}, {1}}};
  for (const auto& c : cuts) {
    ExpectLikeReference({.op = &op::slice,
                         .attrs = {},
                         .epilogue = {},
                         .inputs = {{.value = random.Floats({3, 5, 17})},
                                    list(c.starts),
                                    list(c.ends),
                                    list(c.axes),
                                    list(c.steps)}},
                        "slice", 0);
  }
  for (const std::int64_t axis : {0, 1, 2, -1}) {
    TestStep s{.op = &op::concat, .attrs = {}, .epilogue = {}, .inputs = {}};
    s.attrs.Set("axis", axis);
    for (const std::int64_t n : {1, 4, 24}) {
      Dims d = {2, 3, 5};
      d[static_cast<std::size_t>(axis < 0 ? axis + 3 : axis)] = n;
      s.inputs.push_back({.value = random.Floats(d)});
    }
    ExpectLikeReference(s, "concat", 0);
  }
}

TEST(MoveKernels, CopyWhatOnlyRenames) {
  Random random(31);
  TestStep s{.op = &op::unsqueeze,
             .attrs = {},
             .epilogue = {},
             .inputs = {{.value = random.Floats({3, 5})}}};
  s.attrs.Set("axes", ops::Ints{0});
  ExpectLikeReference(s, "copy", 0);
}

}  // namespace
}  // namespace npukit::devices::cpu
