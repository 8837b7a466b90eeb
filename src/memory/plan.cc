#include "memory/plan.h"

#include <algorithm>
#include <numeric>

#include "base/text.h"

namespace npukit::memory {
namespace {

// The largest sum of bytes live at one step. Sums cannot overflow: the caller checked the sum of
// all.
std::uint64_t LowerBound(const std::vector<Lifetime>& values) {
  struct Event {
    std::int64_t step;
    bool starts;
    std::uint64_t bytes;
  };
  std::vector<Event> events;
  events.reserve(values.size() * 2);
  for (const Lifetime& v : values) {
    events.push_back({v.first, true, v.bytes});
    events.push_back({static_cast<std::int64_t>(v.last) + 1, false, v.bytes});
  }
  // At one step ends come before starts: a value that ended at step 3 is no longer live at step 4.
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return a.step != b.step ? a.step < b.step : a.starts < b.starts;
  });
  std::uint64_t live = 0;
  std::uint64_t most = 0;
  for (const Event& e : events) {
    live = e.starts ? live + e.bytes : live - e.bytes;
    most = std::max(most, live);
  }
  return most;
}

bool OverlapInTime(const Lifetime& a, const Lifetime& b) {
  return a.first <= b.last && b.first <= a.last;
}

}  // namespace

Result<Plan> PlanArena(const std::vector<Lifetime>& values, std::uint64_t alignment) {
  if (alignment == 0 || (alignment & (alignment - 1)) != 0) {
    return InvalidArgument(Cat("arena alignment: expected a power of two, found ", alignment));
  }
  // Every end of every value, in whatever order they are stacked, stays below this sum.
  std::vector<std::uint64_t> padded(values.size());
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Lifetime& v = values[i];
    if (v.last < v.first) {
      return InvalidArgument(
          Cat("lifetime ", i, ": ends at step ", v.last, " before it starts at step ", v.first));
    }
    if (__builtin_add_overflow(v.bytes, alignment - 1, &padded[i]) ||
        __builtin_add_overflow(sum, padded[i] &= ~(alignment - 1), &sum)) {
      return ResourceExhausted(
          Cat("the values of this program take more than 2^64 bytes (at lifetime ", i, ")"));
    }
  }

  Plan plan;
  plan.offsets.assign(values.size(), 0);
  plan.lower_bound_bytes = LowerBound(values);

  // Largest first, because small values fit into the holes that large ones leave. Ties by position:
  // the same plan always.
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return padded[a] > padded[b]; });

  std::vector<std::size_t> placed;  // by offset
  placed.reserve(values.size());
  for (const std::size_t i : order) {
    if (padded[i] == 0) continue;  // takes no place; offset 0
    constexpr std::uint64_t kNone = ~std::uint64_t{0};
    std::uint64_t best_offset = kNone;
    std::uint64_t best_hole = kNone;
    std::uint64_t end = 0;  // of what is placed below, among values that live when this one does
    for (const std::size_t other : placed) {
      if (!OverlapInTime(values[i], values[other])) continue;
      const std::uint64_t begin = plan.offsets[other];
      if (begin > end && begin - end >= padded[i] && begin - end < best_hole) {
        best_offset = end;
        best_hole = begin - end;
      }
      end = std::max(end, begin + padded[other]);
    }
    plan.offsets[i] = best_offset != kNone ? best_offset : end;
    plan.arena_bytes = std::max(plan.arena_bytes, plan.offsets[i] + padded[i]);
    const auto at = std::upper_bound(
        placed.begin(), placed.end(), plan.offsets[i],
        [&](std::uint64_t offset, std::size_t p) { return offset < plan.offsets[p]; });
    placed.insert(at, i);
  }
  return plan;
}

}  // namespace npukit::memory
