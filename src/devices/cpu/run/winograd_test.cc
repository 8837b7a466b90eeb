#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "devices/cpu/run/epilogue_test.h"

namespace npukit::devices::cpu {
namespace {

using tensor::Dims;
using tensor::DType;
using tensor::Value;

struct Case {
  std::int64_t n = 1, h = 8, w = 8, c = 16, o = 16;
  ops::Ints pads = {1, 1, 1, 1};
  bool bias = true;
  int m = 4;
};

std::string Name(const Case& c) {
  return Cat("F(", c.m, ") ", c.n, "x", c.h, "x", c.w, "x", c.c, " o ", c.o, " p ",
             JoinInts(c.pads, ","));
}

const char* Kernel(const Case& c) { return c.m == 2 ? "winograd2_f32" : "winograd4_f32"; }

// Outputs of a size that epilogues leave as they are, so that what they cut off is not the measure.
TestStep Make(const Case& c, Random& random) {
  TestStep s;
  const float tap = 1 / std::sqrt(static_cast<float>(c.c));
  s.op = &op::conv2d;
  s.attrs.Set("layout", std::string("NHWC"));
  s.attrs.Set("pads", c.pads);
  s.inputs = {{.value = random.Floats({c.n, c.h, c.w, c.c})},
              {.value = random.Floats({c.o, c.c, 3, 3}, -tap, tap),
               .constant = true,
               .layout = c.m == 2 ? Layout::kWinograd2 : Layout::kWinograd4}};
  if (c.bias)
    s.inputs.push_back({.value = random.Floats({c.o}), .constant = true, .layout = Layout::kPad16});
  return s;
}

Dims OutDims(const Case& c) {
  return {c.n, c.h + c.pads[0] + c.pads[2] - 2, c.w + c.pads[1] + c.pads[3] - 2, c.o};
}

TEST(WinogradKernels, AgreeWithTheReferenceOnRandomShapes) {
  Random random(41);
  for (int i = 0; i < 60; ++i) {
    Case c;
    c.m = i % 2 == 0 ? 4 : 2;
    c.n = random.Int(1, 3);
    c.h = random.Int(3, 15);
    c.w = random.Int(3, 23);
    c.c = random.Int(1, 50);
    c.o = random.Int(1, 90);
    c.pads = {random.Int(0, 3), random.Int(0, 3), random.Int(0, 3), random.Int(0, 3)};
    c.bias = random.Coin();
    SCOPED_TRACE(Name(c));
    TestStep s = Make(c, random);
    if (random.Coin()) AddEpilogue(s, OutDims(c), random);
    ExpectLikeReference(s, Kernel(c), 1e-5);
  }
}

TEST(WinogradKernels, TakeImagesSmallerThanATile) {
  Random random(42);
  for (const int m : {2, 4}) {
    for (const std::int64_t h : {1, 2, 5}) {
      for (const std::int64_t w : {1, 3, 4}) {
        const Case c{.h = h, .w = w, .c = 17, .o = 33, .m = m};
        SCOPED_TRACE(Name(c));
        ExpectLikeReference(Make(c, random), Kernel(c), 1e-5);
      }
    }
  }
}

// What run/README.md promises. The error of a sum of n products grows like sqrt(n) where rounding
// is random: 9 C terms here, so the largest C is the judge.
TEST(WinogradKernels, KeepTheErrorThatIsPromised) {
  Random random(43);
  ThreadPool pool(1);
  for (const int m : {2, 4}) {
    for (const std::int64_t channels : {16, 64, 512}) {
      const Case c{.h = 14, .w = 14, .c = channels, .o = 24, .bias = false, .m = m};
      SCOPED_TRACE(Name(c));
      const TestStep s = Make(c, random);
      const auto x = s.inputs[0].value.as<float>();
      const auto w = s.inputs[1].value.as<float>();
      std::vector<double> exact;
      double most = 0;
      for (std::int64_t y = 0; y < c.h; ++y) {
        for (std::int64_t z = 0; z < c.w; ++z) {
          for (std::int64_t o = 0; o < c.o; ++o) {
            double sum = 0;
            for (std::int64_t t = 0; t < 9; ++t) {
              const std::int64_t iy = y + t / 3 - 1, ix = z + t % 3 - 1;
              if (iy < 0 || iy >= c.h || ix < 0 || ix >= c.w) continue;
              for (std::int64_t i = 0; i < c.c; ++i) {
                sum += double{x[static_cast<std::size_t>((iy * c.w + ix) * c.c + i)]} *
                       double{w[static_cast<std::size_t>((o * c.c + i) * 9 + t)]};
              }
            }
            exact.push_back(sum);
            most = std::max(most, std::abs(sum));
          }
        }
      }
      for (const Target t : SupportedTargets()) {
        const auto run = RunOnDevice(s, t, pool, true);
        ASSERT_TRUE(run.ok()) << run.status().message();
        const auto y = run->outputs[0].as<float>();
        double error = 0;
        for (std::size_t i = 0; i < exact.size(); ++i)
          error = std::max(error, std::abs(double{y[i]} - exact[i]));
        EXPECT_LE(error / most, m == 2 ? 3e-6 : 1e-5) << TargetName(t);
        RecordProperty(Cat("error_F", m, "_", channels, "_", TargetName(t)),
                       Cat(error / most * 1e9));
      }
    }
  }
}

TEST(WinogradKernels, GiveTheSameBitsOnEveryFmaTargetAndThreadCount) {
  Random random(44);
  std::vector<std::unique_ptr<ThreadPool>> pools;
  for (int threads = 1; threads <= 4; ++threads)
    pools.push_back(std::make_unique<ThreadPool>(threads));
  for (const Case& c :
       {Case{.n = 2, .h = 33, .w = 45, .c = 24, .o = 40}, Case{.h = 14, .w = 14, .c = 64, .o = 200},
        Case{.h = 7, .w = 7, .c = 96, .o = 100, .m = 2},
        Case{.h = 30, .w = 41, .c = 19, .o = 56, .m = 2}}) {
    SCOPED_TRACE(Name(c));
    TestStep s = Make(c, random);
    s.epilogue.push_back({&op::relu, {}, -1, false});
    std::vector<float> first;
    for (const Target t : SupportedTargets()) {
      if (t == Target::kScalar) continue;  // rounds products too
      for (const auto& pool : pools) {
        const auto run = RunOnDevice(s, t, *pool, true);
        ASSERT_TRUE(run.ok()) << run.status().message();
        EXPECT_EQ(run->kernel, Kernel(c));
        const auto y = run->outputs[0].as<float>();
        if (first.empty()) first.assign(y.begin(), y.end());
        EXPECT_TRUE(std::equal(y.begin(), y.end(), first.begin()))
            << TargetName(t) << " " << pool->threads();
      }
    }
  }
}

// Where the reference has an infinity or a NaN, so has the kernel, and pixels of tiles that do not
// read it keep their values.
TEST(WinogradKernels, NeverHideInfinitiesAndSpreadThemNoFurtherThanTheirTiles) {
  Random random(45);
  ThreadPool pool(1);
  for (const int m : {2, 4}) {
    for (const float bad : {INFINITY, -INFINITY, NAN}) {
      const Case c{.n = 2, .h = 21, .w = 19, .c = 18, .o = 20, .m = m};
      TestStep s = Make(c, random);
      const std::int64_t at_y = random.Int(0, c.h - 1), at_x = random.Int(0, c.w - 1);
      SCOPED_TRACE(Cat(Name(c), " at ", at_y, ",", at_x));
      s.inputs[0].value.as_mutable<float>()[static_cast<std::size_t>((at_y * c.w + at_x) * c.c +
                                                                     random.Int(0, c.c - 1))] = bad;
      const auto expected = RunByReference(s);
      ASSERT_TRUE(expected.ok());
      const auto want = (*expected)[0].as<float>();
      for (const Target t : SupportedTargets()) {
        const auto run = RunOnDevice(s, t, pool, true);
        ASSERT_TRUE(run.ok()) << run.status().message();
        const auto y = run->outputs[0].as<float>();
        for (std::int64_t i = 0; i < static_cast<std::int64_t>(want.size()); ++i) {
          const auto at = static_cast<std::size_t>(i);
          const std::int64_t pixel = i / c.o, image = pixel / (c.h * c.w);
          const auto reads = [&](std::int64_t out, std::int64_t in) {  // with a pad of 1
            return out / m * m - 1 <= in && in <= out / m * m + m;
          };
          if (image == 0 && reads(pixel / c.w % c.h, at_y) && reads(pixel % c.w, at_x)) {
            if (!std::isfinite(want[at])) {
              EXPECT_FALSE(std::isfinite(y[at])) << i;
            }
          } else {
            EXPECT_NEAR(y[at], want[at], 2e-3) << i;
          }
        }
      }
    }
  }
}

TEST(WinogradKernels, LeaveWhatDoesNotFitToTheReferenceWhichUnpacksTheWeights) {
  Random random(46);
  for (const int m : {2, 4}) {
    TestStep s = Make({.h = 9, .w = 11, .c = 5, .o = 18, .m = m}, random);
    s.attrs.Set("strides", ops::Ints{2, 2});
    ExpectLikeReference(s, "reference");
  }
}

}  // namespace
}  // namespace npukit::devices::cpu
