#include "lab/fit.h"

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace npukit::lab {
namespace {

// Slowly, so that a narrow valley across the parameters is not left: the last grid is 1e-7 of the
// box.
constexpr int kRounds = 45;
constexpr double kShrink = 0.7;

}  // namespace

std::vector<double> MinimiseInBox(std::span<const Range> box,
                                  const std::function<double(std::span<const double>)>& f) {
  NPUKIT_CHECK(box.size() <= kMaxFreeParameters);
  const std::size_t points = box.size() <= 2 ? 9 : 5;  // per side: 81 or 625 at most
  std::vector<Range> window(box.begin(), box.end());
  std::vector<double> best(box.size());
  for (std::size_t d = 0; d < box.size(); ++d) best[d] = (box[d].least + box[d].most) / 2;
  double best_value = f(best);
  std::vector<std::size_t> index(box.size(), 0);
  std::vector<double> x(box.size());
  for (int round = 0; round < kRounds; ++round) {
    std::fill(index.begin(), index.end(), 0);
    for (bool more = !box.empty(); more;) {
      for (std::size_t d = 0; d < box.size(); ++d) {
        x[d] = window[d].least + (window[d].most - window[d].least) *
                                     static_cast<double>(index[d]) /
                                     static_cast<double>(points - 1);
      }
      if (const double value = f(x); value < best_value) {
        best_value = value;
        best = x;
      }
      std::size_t d = 0;
      while (d < box.size() && ++index[d] == points) index[d++] = 0;
      more = d < box.size();
    }
    for (std::size_t d = 0; d < box.size(); ++d) {
      const double half = (window[d].most - window[d].least) * kShrink / 2;
      window[d] = {std::max(box[d].least, best[d] - half), std::min(box[d].most, best[d] + half)};
    }
  }
  return best;
}

}  // namespace npukit::lab
