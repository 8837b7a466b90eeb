#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "report/table.h"
#include "report/validate_record.h"
#include "report/words.h"

namespace npukit::report {
double Validation::mean_error() const {
  double sum = 0;
  for (const ValidatedNetwork& n : networks) sum += std::abs(n.error());
  return networks.empty() ? 0 : sum / static_cast<double>(networks.size());
}

double Validation::worst_error() const {
  double worst = 0;
  for (const ValidatedNetwork& n : networks) worst = std::max(worst, std::abs(n.error()));
  return worst;
}

std::string ToText(const Validation& r) {
  std::string out = fmt::format(
      "{}\n  published: {}, {}\n  target {}\n\n"
      "Each network is predicted (modelled) by parameters fitted on the other {}:\n",
      Printable(r.title, 400), Printable(r.source, 400), r.date, TargetText(r.target),
      r.networks.size() - 1);
  Table table({"network", ">tasks", ">GMAC", ">DRAM MB", ">work ms", ">predicted ms",
               ">published ms", ">error"});
  for (const ValidatedNetwork& n : r.networks) {
    table.Add({Printable(n.name, 40), std::to_string(n.tasks), fmt::format("{:.2f}", n.gmacs),
               fmt::format("{:.1f}", n.dram_mbytes), fmt::format("{:.3f}", n.work_ms),
               fmt::format("{:.2f}", n.predicted_ms), fmt::format("{:.2f}", n.published_ms),
               fmt::format("{:+.1f}%", 100 * n.error())});
  }
  out += table.ToText("  ");
  out += "\nFree parameters; every other figure is a fact of the profile:\n";
  Table fitted({"fact", ">fitted on all", ">over the folds", ">range searched", "unit"});
  for (const FittedFact& f : r.fitted) {
    fitted.Add({f.fact, fmt::format("{:.2f}", f.value),
                fmt::format("{:.2f} to {:.2f}", f.fold_least, f.fold_most),
                fmt::format("{} to {}", f.least, f.most), f.unit});
  }
  out += fitted.ToText("  ");
  out += fmt::format("\nMean error {} (goal {}), worst {} (goal {}): {}\n", Percent(r.mean_error()),
                     Percent(r.goal_mean), Percent(r.worst_error()), Percent(r.goal_worst),
                     r.meets_goal() ? "the goal is met" : "the goal is missed");
  return out;
}

}  // namespace npukit::report
