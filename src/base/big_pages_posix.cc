#include <sys/mman.h>

#include "base/big_pages.h"

namespace npukit {

void WishBigPages(void* begin, std::uint64_t bytes) {
#if defined(MADV_HUGEPAGE)
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  const std::uintptr_t first = (address + kBigPageBytes - 1) / kBigPageBytes * kBigPageBytes;
  const std::uintptr_t last = (address + bytes) / kBigPageBytes * kBigPageBytes;
  // Refused where the system has none; the memory is as good without.
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
#else
  (void)begin, (void)bytes;
#endif
}

}  // namespace npukit
