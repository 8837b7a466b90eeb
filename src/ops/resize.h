// The arithmetic of resize, for kernels and lowerings: where each result comes from, said once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "ops/op_def.h"
#include "tensor/value.h"

namespace npukit::ops {

inline constexpr std::int64_t kMaxResizedSize = std::int64_t{1} << 24;  // of a dimension

enum class ResizeCoordinates : std::uint8_t {
  kHalfPixel,
  kHalfPixelSymmetric,
  kPytorchHalfPixel,
  kAsymmetric,
  kAlignCorners,
  kTfHalfPixel,
};
enum class ResizeRounding : std::uint8_t { kPreferFloor, kPreferCeil, kFloor, kCeil };

// Where element i of a result of `out` elements lies in a source of `in` elements.
template <class T>
T ResizeSource(ResizeCoordinates mode, std::int64_t i, T scale, std::int64_t in, std::int64_t out) {
  const T x = static_cast<T>(i);
  const T n_in = static_cast<T>(in);
  const T n_out = static_cast<T>(out);
  const T half = static_cast<T>(0.5);
  switch (mode) {
    case ResizeCoordinates::kHalfPixel:
      return (x + half) / scale - half;
    case ResizeCoordinates::kHalfPixelSymmetric: {
      const T adjustment = n_out / (scale * n_in);
      return n_in / 2 * (1 - adjustment) + (x + half) / scale - half;
    }
    case ResizeCoordinates::kPytorchHalfPixel:
      return out > 1 ? (x + half) / scale - half : T{0};
    case ResizeCoordinates::kAsymmetric:
      return x / scale;
    case ResizeCoordinates::kAlignCorners:
      return out == 1 ? T{0} : x * (n_in - 1) / (n_out - 1);
    case ResizeCoordinates::kTfHalfPixel:
      return (x + half) / scale;
  }
  return 0;
}
std::int64_t RoundResizeSource(ResizeRounding mode, float x);
// Size of the result for a scale.
Result<std::int64_t> ScaledSize(std::int64_t in, float scale);

// One dimension: result i takes weight[i] of source hi[i] and 1 - weight[i] of lo[i]. Nearest:
// weight 0.
struct ResizeAxis {
  bool identity = true;
  std::vector<std::int64_t> lo, hi;
  std::vector<float> weight;
};

// One per dimension of x, in x's own order. `scales` and `sizes` are inputs 1 and 2 (absent or null
// when not given); exactly one of them holds numbers. `y` gets the sizes of the result.
Result<std::vector<ResizeAxis>> PlanResize(const Attrs& attrs, const tensor::Dims& x,
                                           const tensor::Value* scales, const tensor::Value* sizes,
                                           tensor::Dims* y);

}  // namespace npukit::ops
