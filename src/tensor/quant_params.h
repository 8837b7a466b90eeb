// How small integers stand for real numbers: real = scale * (q - zero_point), per tensor or along
// one axis.
#pragma once

#include <cstdint>
#include <vector>

namespace npukit::tensor {

struct QuantParams {
  std::vector<float> scales;              // one, or one per index of `axis`; empty: not quantised
  std::vector<std::int32_t> zero_points;  // as many as scales
  int axis = -1;                          // -1: per tensor
  bool operator==(const QuantParams&) const = default;
};

}  // namespace npukit::tensor
