// The cheapest way to give every item one of two sides. Own costs are per item; a tie says what it
// costs when its `from` is on the first side and its `to` on the second. Exact (maximum flow).
// Costs are saturated, never negative.
#pragma once

#include <cstdint>
#include <vector>

namespace npukit::compile {

inline constexpr std::int64_t kNever = std::int64_t{1}
                                       << 50;  // "must not": dearer than any real sum

struct CutItem {
  std::int64_t first = 0;   // cost on the first side
  std::int64_t second = 0;  // cost on the second side
};
struct CutTie {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::int64_t cost = 0;
};

// True: first side. Equal costs go to the first side.
std::vector<bool> MinCut(const std::vector<CutItem>& items, const std::vector<CutTie>& ties);

}  // namespace npukit::compile
