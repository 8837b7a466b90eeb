#include "memory/plan.h"

#include <gtest/gtest.h>

#include <random>

namespace npukit::memory {
namespace {

bool LiveTogether(const Lifetime& a, const Lifetime& b) {
  return a.first <= b.last && b.first <= a.last;
}

void ExpectSound(const std::vector<Lifetime>& values, const Plan& plan, std::uint64_t alignment) {
  ASSERT_EQ(plan.offsets.size(), values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(plan.offsets[i] % alignment, 0u);
    EXPECT_LE(plan.offsets[i] + values[i].bytes, plan.arena_bytes);
    for (std::size_t j = 0; j < i; ++j) {
      if (!LiveTogether(values[i], values[j]) || values[i].bytes == 0 || values[j].bytes == 0)
        continue;
      EXPECT_TRUE(plan.offsets[i] + values[i].bytes <= plan.offsets[j] ||
                  plan.offsets[j] + values[j].bytes <= plan.offsets[i])
          << i << " and " << j;
    }
  }
  EXPECT_GE(plan.arena_bytes, plan.lower_bound_bytes);
}

TEST(MemoryPlan, NothingTakesNoSpace) {
  const auto plan = PlanArena({});
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->arena_bytes, 0u);
  EXPECT_EQ(plan->lower_bound_bytes, 0u);
}

// A chain a -> b -> c -> d of equal values: two places suffice, and each step needs two.
TEST(MemoryPlan, ChainNeedsTwoPlaces) {
  std::vector<Lifetime> chain;
  for (int i = 0; i < 10; ++i) chain.push_back({1024, i, i + 1});
  const auto plan = PlanArena(chain);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->lower_bound_bytes, 2048u);
  EXPECT_EQ(plan->arena_bytes, 2048u);
  ExpectSound(chain, *plan, 64);
}

// By hand: steps 0..3; at step 1 live are 100 + 200 = 300, at step 2 200 + 50 + 60 = 310.
TEST(MemoryPlan, LowerBoundIsTheFullestStep) {
  const auto plan = PlanArena({{100, 0, 1}, {200, 1, 2}, {50, 2, 2}, {60, 2, 3}}, 1);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->lower_bound_bytes, 310u);
}

// 100 and 300 stay for the whole time with a value of 200 between them until step 1: the later
// value of 150 must go into that hole rather than on top.
TEST(MemoryPlan, TakesTheSmallestHoleThatFits) {
  const std::vector<Lifetime> values = {{400, 0, 9}, {300, 0, 1}, {200, 0, 9},
                                        {250, 2, 9}, {100, 0, 1}, {90, 2, 9}};
  const auto plan = PlanArena(values, 1);
  ASSERT_TRUE(plan.ok());
  ExpectSound(values, *plan, 1);
  EXPECT_EQ(plan->arena_bytes, 1000u);  // 400 + 300 + 200 + 100, all live at step 0
  EXPECT_EQ(plan->lower_bound_bytes, 1000u);
}

TEST(MemoryPlan, EmptyValuesTakeNoPlace) {
  const auto plan = PlanArena({{0, 0, 9}, {64, 0, 9}, {0, 3, 4}});
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->arena_bytes, 64u);
}

TEST(MemoryPlan, NeverOverlapsLiveValues) {
  std::mt19937_64 rng(20261130);
  for (int round = 0; round < 300; ++round) {
    const int count = 1 + static_cast<int>(rng() % 60);
    const std::uint64_t alignment = std::uint64_t{1} << (rng() % 9);
    std::vector<Lifetime> values;
    for (int i = 0; i < count; ++i) {
      const auto first = static_cast<std::int32_t>(rng() % 40);
      values.push_back({rng() % 5000, first,
                        first + static_cast<std::int32_t>(rng() % (rng() % 3 == 0 ? 40 : 4))});
    }
    const auto plan = PlanArena(values, alignment);
    ASSERT_TRUE(plan.ok());
    ExpectSound(values, *plan, alignment);
    const auto again = PlanArena(values, alignment);
    EXPECT_EQ(again->offsets, plan->offsets);
  }
}

// What networks look like: each value read by the next step, some kept for a residual. No more than
// a quarter above the bound, which no plan can beat.
TEST(MemoryPlan, StaysNearTheBoundOnResidualNetworks) {
  std::mt19937_64 rng(7);
  for (int round = 0; round < 50; ++round) {
    std::vector<Lifetime> values;
    for (int i = 0; i < 100; ++i) {
      const std::int32_t keep = rng() % 4 == 0 ? 3 : 1;
      values.push_back({std::uint64_t{4096} << (rng() % 4), i, i + keep});
    }
    const auto plan = PlanArena(values);
    ASSERT_TRUE(plan.ok());
    ExpectSound(values, *plan, 64);
    EXPECT_LE(static_cast<double>(plan->arena_bytes),
              1.25 * static_cast<double>(plan->lower_bound_bytes))
        << "round " << round;
  }
}

TEST(MemoryPlan, RefusesOverflowAndNonsense) {
  const std::uint64_t half = std::uint64_t{1} << 63;
  EXPECT_EQ(PlanArena({{half, 0, 1}, {half, 0, 1}}).status().code(), Code::kResourceExhausted);
  EXPECT_EQ(PlanArena({{~std::uint64_t{0}, 0, 1}}).status().code(), Code::kResourceExhausted);
  EXPECT_EQ(PlanArena({{1, 2, 1}}).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(PlanArena({{1, 0, 1}}, 48).status().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace npukit::memory
