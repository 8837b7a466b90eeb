// The CPU's steps against the roofs of the machine it ran on.
#include <fmt/format.h>

#include <algorithm>

#include "report/html/parts.h"

namespace npukit::report::html {
namespace {

const std::vector<Heading>& FigureHeadings() {
  static const std::vector<Heading> headings = {
      {"time, \u00b5s", Column::kNumber},    {"share", Column::kNumber},
      {"GFLOP/s", Column::kNumber},          {"GB/s", Column::kNumber},
      {"nearer roof", Column::kCode},        {"of the roof", Column::kNumber},
      {"above it, \u00b5s", Column::kNumber}};
  return headings;
}

Cell PercentCell(double share) {
  Cell c = NumberCell(100 * share, 1, Kind::kMeasured);
  c.text += " %";
  return c;
}

void AddFigures(const RoofLine& l, double most_us, int decimals, std::vector<Cell>* row) {
  Cell above = NumberCell(l.above_ms() * 1e3, decimals, Kind::kMeasured);
  above.part = most_us > 0 ? std::clamp(l.above_ms() * 1e3 / most_us, 0.0, 1.0) : 0;
  row->insert(row->end(), {NumberCell(l.ms * 1e3, decimals, Kind::kMeasured),
                           PercentCell(l.share),
                           NumberCell(l.gflops(), 1, Kind::kMeasured),
                           NumberCell(l.gbytes_per_s(), 1, Kind::kMeasured),
                           {.text = l.roof},
                           l.roof.empty() ? NoCell() : PercentCell(l.of_roof()),
                           above});
}

// The largest time, and the largest time above a roof, in microseconds.
std::pair<double, double> Most(const std::vector<RoofLine>& lines) {
  std::pair<double, double> most = {0, 0};
  for (const RoofLine& l : lines) {
    most.first = std::max(most.first, l.ms * 1e3);
    most.second = std::max(most.second, l.above_ms() * 1e3);
  }
  return most;
}

}  // namespace

Table RooflineStepsTable(const Roofline& r) {
  const auto [us, above] = Most(r.steps);
  Table t;
  t.title = "Steps on the CPU, in order of running";
  t.headings = {{"operator", Column::kName}, {"does", Column::kCode}, {"kernel", Column::kCode}};
  t.headings.insert(t.headings.end(), FigureHeadings().begin(), FigureHeadings().end());
  t.headings.push_back({"result", Column::kCode});
  for (const RoofLine& l : r.steps) {
    std::vector<Cell> row = {
        {.text = l.name},
        {.text = l.op},
        {.text = l.kernel, .tone = l.kernel == "reference" ? Tone::kWarn : Tone::kPlain}};
    AddFigures(l, above, std::min(2, DecimalsFor(us) + 1), &row);
    row.push_back({.text = l.shape});
    t.rows.push_back(std::move(row));
  }
  t.after =
      "of the roof: the time a perfect kernel would take over the time taken; above it: their "
      "difference. Over 100 %: the tensors lay in a cache, or the kernel did with fewer operations "
      "than the plain definition.";
  return t;
}

Table RooflineKernelsTable(const Roofline& r) {
  const auto [us, above] = Most(r.kernels);
  Table t;
  t.title = "Sums by kernel";
  t.headings = {{"kernel", Column::kCode}, {"steps", Column::kNumber}};
  t.headings.insert(t.headings.end(), FigureHeadings().begin(), FigureHeadings().end());
  for (const RoofLine& l : r.kernels) {
    std::vector<Cell> row = {{.text = l.name}, NumberCell(l.steps, 0)};
    AddFigures(l, above, std::min(2, DecimalsFor(us) + 1), &row);
    t.rows.push_back(std::move(row));
  }
  t.after = fmt::format(
      "The machine's roofs: {:.1f} GFLOP/s, memory {:.1f} GB/s read and {:.1f} GB/s copied.",
      r.peak_gflops, r.read_gbytes_per_s, r.copy_gbytes_per_s);
  return t;
}

}  // namespace npukit::report::html
