#include "lab/fit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "testing/random.h"

namespace npukit::lab {
namespace {

TEST(MinimiseInBox, FindsABowlAndStaysInTheBox) {
  const auto bowl = [](std::span<const double> x) {
    return (x[0] - 3) * (x[0] - 3) + 4 * (x[1] + 1) * (x[1] + 1) + (x[0] - 3) * (x[1] + 1);
  };
  const Range inside[] = {{-10, 10}, {-10, 10}};
  const auto at = MinimiseInBox(inside, bowl);
  EXPECT_NEAR(at[0], 3, 2e-4);
  EXPECT_NEAR(at[1], -1, 2e-4);
  // With x1 at least 0 the slope along x0 vanishes at 3 - 1/2.
  const Range cut[] = {{-10, 10}, {0, 10}};
  const auto edge = MinimiseInBox(cut, bowl);
  EXPECT_NEAR(edge[0], 2.5, 2e-4);
  EXPECT_EQ(edge[1], 0);
}

TEST(MinimiseInBox, TakesNoneToFourParameters) {
  EXPECT_TRUE(MinimiseInBox({}, [](std::span<const double>) { return 1.0; }).empty());
  const std::vector<double> want = {0.125, 7, -2.5, 0};
  std::vector<Range> box(4, Range{-8, 8});
  const auto at = MinimiseInBox(box, [&](std::span<const double> x) {
    double sum = 0;
    for (std::size_t i = 0; i < 4; ++i) sum += std::abs(x[i] - want[i]);
    return sum;
  });
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(at[i], want[i], 1e-4) << i;
}

// The least sum of |a + b * n - t| / t has an optimum where two residuals vanish, or one at an edge
// of the box, or at a corner (linear programming): all of them can be tried.
TEST(MinimiseInBox, IsAsGoodAsTryingEveryVertexOfALinearFit) {
  testing::Random random(20261130);
  for (int problem = 0; problem < 20; ++problem) {
    std::vector<double> n, t;
    for (int i = 0; i < 17; ++i) {
      n.push_back(std::floor(random.Real(20, 300)));
      t.push_back((500 + 17 * n.back()) * random.Real(0.7, 1.4));
    }
    const auto cost = [&](double a, double b) {
      double sum = 0;
      for (std::size_t i = 0; i < n.size(); ++i) sum += std::abs(a + b * n[i] - t[i]) / t[i];
      return sum;
    };
    const Range box[] = {{0, 7000}, {0, 240}};
    double best = std::min({cost(0, 0), cost(0, 240), cost(7000, 0), cost(7000, 240)});
    const auto offer = [&](double a, double b) {
      if (a >= 0 && a <= 7000 && b >= 0 && b <= 240) best = std::min(best, cost(a, b));
    };
    for (std::size_t i = 0; i < n.size(); ++i) {
      offer(0, t[i] / n[i]);
      offer(t[i], 0);
      for (std::size_t k = 0; k < i; ++k) {
        if (n[i] == n[k]) continue;
        const double b = (t[i] - t[k]) / (n[i] - n[k]);
        offer(t[i] - b * n[i], b);
      }
    }
    const auto found =
        MinimiseInBox(box, [&](std::span<const double> x) { return cost(x[0], x[1]); });
    EXPECT_LE(cost(found[0], found[1]), best * 1.001) << problem;
    EXPECT_GE(cost(found[0], found[1]), best * (1 - 1e-12)) << problem;
  }
}

}  // namespace
}  // namespace npukit::lab
