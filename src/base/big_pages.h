// Large memory in large pages, where the system has them: the first touch of every page costs a
// trap into the system, which for an arena of tens of megabytes is a fifth of a network's first
// inference, and later a look-up for every few thousand bytes.
#pragma once

#include <cstdint>

namespace npukit {

inline constexpr std::uint64_t kBigPageBytes = std::uint64_t{2} << 20;

// A wish, before the memory is touched; nothing is promised and nothing fails. Whole big pages
// inside the stretch count, so align it. Any thread.
void WishBigPages(void* begin, std::uint64_t bytes);

}  // namespace npukit
