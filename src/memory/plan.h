// When values live becomes where they lie: offsets in one arena, no two live values overlapping.
// Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"

namespace npukit::memory {

// Live from step `first` (written) to step `last` (last read), both included.
struct Lifetime {
  std::uint64_t bytes = 0;
  std::int32_t first = 0;
  std::int32_t last = 0;
};

struct Plan {
  std::vector<std::uint64_t> offsets;  // one per lifetime, multiples of `alignment`
  std::uint64_t arena_bytes = 0;
  std::uint64_t lower_bound_bytes = 0;  // the largest sum live at one step: no plan can be smaller
};

// Largest first, best fit between the placed neighbours that overlap in time. kResourceExhausted on
// overflow.
Result<Plan> PlanArena(const std::vector<Lifetime>& values, std::uint64_t alignment = 64);

}  // namespace npukit::memory
