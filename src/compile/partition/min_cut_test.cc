#include "compile/partition/min_cut.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>

namespace npukit::compile {
namespace {

std::int64_t CostOf(const std::vector<CutItem>& items, const std::vector<CutTie>& ties,
                    const std::vector<bool>& first) {
  std::int64_t cost = 0;
  for (std::size_t i = 0; i < items.size(); ++i)
    cost += first[i] ? items[i].first : items[i].second;
  for (const CutTie& t : ties) {
    if (first[t.from] && !first[t.to]) cost += t.cost;
  }
  return cost;
}

// Judged by trying all 2^n divisions.
TEST(MinCut, IsTheCheapestOfAllDivisions) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const std::size_t n = 1 + random() % 9;
    std::vector<CutItem> items(n);
    for (CutItem& i : items)
      i = {static_cast<std::int64_t>(random() % 20), static_cast<std::int64_t>(random() % 20)};
    std::vector<CutTie> ties;
    for (std::size_t k = random() % 20; k > 0; --k) {
      ties.push_back({static_cast<std::uint32_t>(random() % n),
                      static_cast<std::uint32_t>(random() % n),
                      static_cast<std::int64_t>(random() % 15)});
    }
    std::int64_t best = kNever;
    for (std::uint32_t mask = 0; mask < (1u << n); ++mask) {
      std::vector<bool> first(n);
      for (std::size_t i = 0; i < n; ++i) first[i] = (mask >> i) & 1;
      best = std::min(best, CostOf(items, ties, first));
    }
    EXPECT_EQ(CostOf(items, ties, MinCut(items, ties)), best) << "round " << round;
  }
}

TEST(MinCut, EqualCostsGoToTheFirstSide) {
  EXPECT_EQ(MinCut({{3, 3}, {0, 0}}, {}), (std::vector<bool>{true, true}));
}

TEST(MinCut, NeverIsRespected) {
  EXPECT_EQ(MinCut({{kNever, 5}, {1, kNever}}, {{1, 0, 1000}}), (std::vector<bool>{false, true}));
}

}  // namespace
}  // namespace npukit::compile
