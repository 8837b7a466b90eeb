// The arithmetic of pad, for kernels and lowerings: where each element comes from, said once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "ops/attrs.h"
#include "tensor/value.h"

namespace npukit::ops {

enum class PadMode : std::uint8_t { kConstant, kEdge, kReflect, kWrap };
Result<PadMode> ReadPadMode(const Attrs& attrs);

// How much is added in front of and behind one dimension; negative: cut off. The result has
// begin + n + end elements, never less than none.
struct Padding {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};
// One per dimension of x of rank `rank`. `inputs` are those of pad; only the lists are looked at.
Result<std::vector<Padding>> PlanPad(std::size_t rank, std::span<const tensor::Value> inputs);
// The element of a dimension of n that result i takes; -1: the constant.
std::int64_t PadSource(PadMode mode, const Padding& p, std::int64_t n, std::int64_t i);

}  // namespace npukit::ops
