// Which bytes of a core's buffers an instruction reads and writes: what orders it against others.
#pragma once

#include <array>
#include <cstdint>

#include "devices/npu_sim/blob/isa.h"

namespace npukit::npu {

inline constexpr int kBufferCount = 5;  // L1, UB, L0A, L0B, L0C
inline constexpr int BufferOf(std::int32_t mem) { return mem - kL1; }

// One stretch [begin, end) of a buffer, from the first byte to the last: gaps of strided loops
// count as touched.
struct Access {
  std::int32_t buffer = 0;
  bool write = false;
  std::int64_t begin = 0, end = 0;
  bool Conflicts(const Access& o) const {
    return buffer == o.buffer && (write || o.write) && begin < o.end && o.begin < end;
  }
};

struct AccessList {
  std::array<Access, 6> items;
  int count = 0;
  const Access* begin() const { return items.data(); }
  const Access* end() const { return items.data() + count; }
};

// `accumulator_bytes`: of fp16 products. `words` points at the header of a checked instruction.
AccessList AccessesOf(const std::int32_t* words, std::int64_t accumulator_bytes);

}  // namespace npukit::npu
