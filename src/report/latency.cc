#include <algorithm>
#include <cmath>

#include "report/records.h"

namespace npukit::report {

Latency Summarise(std::vector<double> samples) {
  Latency l;
  if (samples.empty()) return l;
  std::sort(samples.begin(), samples.end());
  const auto rank =
      [&](double share) {  // the smallest sample that at least this share does not exceed
        const auto n = static_cast<double>(samples.size());
        return samples[static_cast<std::size_t>(std::max(1.0, std::ceil(share * n)) - 1)];
      };
  double sum = 0;
  for (double s : samples) sum += s;
  l.mean = sum / static_cast<double>(samples.size());
  double squares = 0;
  for (double s : samples) squares += (s - l.mean) * (s - l.mean);
  l.std = std::sqrt(squares / static_cast<double>(samples.size()));
  l.p50 = rank(0.50);
  l.p90 = rank(0.90);
  l.p95 = rank(0.95);
  l.p99 = rank(0.99);
  l.min = samples.front();
  l.max = samples.back();
  return l;
}

}  // namespace npukit::report
