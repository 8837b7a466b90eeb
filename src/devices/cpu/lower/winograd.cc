#include "devices/cpu/lower/winograd.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "ops/window.h"

namespace npukit::devices::cpu {
namespace {

// Fewer, and the transforms are as much work as the product.
constexpr std::int64_t kLeastChannels = 16;
// Measured on Zen 4 with AVX2 and AVX-512, weights in cache and from memory, on 15 shapes from
// 4x4x256 to 160x160x96: with these the choice is the fastest, or within a tenth of it where
// weights come from memory, as in every network larger than the cache. In cache F(4) would win down
// to 7x7 too, by up to 1.6, but from memory it lost a quarter at 14x14x256 (AVX2); it also makes
// the larger package.
constexpr double kRowsPerFetch = 8;
constexpr double kTransforms2 = 1.1, kTransforms4 = 1.3;
constexpr double kLeastGain = 1.15;

// Points far from overflow, and no infinity or NaN, which points would smear over filters.
bool IsTame(const tensor::Value& w) {
  constexpr float kMost = 1e4f;
  const auto taps = w.as<float>();
  return std::all_of(taps.begin(), taps.end(), [](float t) { return std::abs(t) <= kMost; });
}

}  // namespace

Layout ConvLayout(const ir::Graph& g, const ir::Node& n, const tensor::Value& w) {
  const tensor::Dims& dims = w.dims();
  const tensor::Type& y = g.value(n.outputs[0]).type;
  if (dims.size() != 4 || dims[2] != 3 || dims[3] != 3 || n.attrs.Int("group", 1) != 1 ||
      dims[0] < kLeastChannels || dims[1] < kLeastChannels || !y.is_static() ||
      y.dims().size() != 4)
    return Layout::kConv;
  const auto window = ops::ReadWindow(n.attrs, {3, 3});
  using Pair = std::array<std::int64_t, 2>;
  if (!window.ok() || window->stride != Pair{1, 1} || window->dilation != Pair{1, 1})
    return Layout::kConv;
  // Steps of the product per pair of channels, for each of the `points` a weight becomes: a row per
  // tile, and some for fetching the weight. Transforms are a share on top.
  const auto steps = [&](double points, std::int64_t m, double transforms) {
    const std::int64_t tiles =
        y.dims()[0] * ((y.dims()[1] + m - 1) / m) * ((y.dims()[2] + m - 1) / m);
    return points * (static_cast<double>(tiles) + kRowsPerFetch) * transforms;
  };
  const double direct = steps(9, 1, 1);
  const double two = steps(16, 2, kTransforms2);
  const double four = steps(36, 4, kTransforms4);
  if (std::min(two, four) * kLeastGain > direct || !IsTame(w)) return Layout::kConv;
  return four < two ? Layout::kWinograd4 : Layout::kWinograd2;
}

}  // namespace npukit::devices::cpu
