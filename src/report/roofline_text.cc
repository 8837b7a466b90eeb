// The CPU's steps against its roofs: what would gain most comes first.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "report/table.h"
#include "report/words.h"

namespace npukit::report {
namespace {

void AddLine(const RoofLine& l, std::vector<std::string> words, Table& table) {
  std::vector<std::string> cells = {
      fmt::format("{:.1f}", l.ms * 1e3),
      Percent(l.share),
      fmt::format("{:.1f}", l.gflops()),
      fmt::format("{:.1f}", l.gbytes_per_s()),
      l.roof.empty() ? "-" : l.roof,
      l.roof.empty() ? "-" : Percent(l.of_roof()),
      fmt::format("{:.1f}", l.above_ms() * 1e3),
  };
  cells.insert(cells.end(), words.begin(), words.end());
  table.Add(std::move(cells));
}

}  // namespace

std::string RooflineText(const Roofline& r) {
  std::string out = fmt::format(
      "Roofs of this machine: {:.1f} GFLOP/s; memory {:.1f} GB/s read, {:.1f} GB/s copied "
      "(measured)\nSteps (measured, the fastest of {} runs), the most time above the roof first:\n",
      r.peak_gflops, r.read_gbytes_per_s, r.copy_gbytes_per_s, r.runs);
  std::vector<const RoofLine*> order;
  for (const RoofLine& l : r.steps) order.push_back(&l);
  std::stable_sort(order.begin(), order.end(), [](const RoofLine* a, const RoofLine* b) {
    return a->above_ms() > b->above_ms();
  });
  Table steps({">us", ">share", ">GFLOP/s", ">GB/s", "roof", ">of it", ">us above", "kernel",
               "result", "operator", "node"});
  for (const RoofLine* l : order)
    AddLine(*l, {l->kernel, l->shape, l->op, Printable(l->name)}, steps);
  Table kernels(
      {">us", ">share", ">GFLOP/s", ">GB/s", "roof", ">of it", ">us above", "kernel", ">steps"});
  for (const RoofLine& l : r.kernels) AddLine(l, {l.name, std::to_string(l.steps)}, kernels);
  AddLine(r.total, {"all", std::to_string(r.total.steps)}, kernels);
  out += steps.ToText("  ") + "Sums by kernel:\n" + kernels.ToText("  ");
  const bool cached = std::any_of(r.steps.begin(), r.steps.end(),
                                  [](const RoofLine& l) { return l.of_roof() > 1; });
  if (cached) {
    out +=
        "Over 100%: the step's tensors lay in a cache, or it did with fewer operations than the "
        "plain definition.\n";
  }
  return out;
}

}  // namespace npukit::report
