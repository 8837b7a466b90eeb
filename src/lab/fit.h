// The smallest value of a function of a few parameters inside a box: for fitting the free
// parameters of a model to published figures. Deterministic, no derivatives: a grid over the box,
// then smaller and smaller grids around the best point.
#pragma once

#include <functional>
#include <span>
#include <vector>

namespace npukit::lab {

struct Range {
  double least = 0;
  double most = 0;
};

inline constexpr std::size_t kMaxFreeParameters = 4;

// At most kMaxFreeParameters ranges. Of points equally good the first found stays. For a function
// that is convex along each parameter the result is within 1e-6 of the range.
std::vector<double> MinimiseInBox(std::span<const Range> box,
                                  const std::function<double(std::span<const double>)>& f);

}  // namespace npukit::lab
