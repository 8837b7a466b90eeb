#include <fmt/format.h>

#include <algorithm>

#include "report/html/pages.h"
#include "report/html/parts.h"
#include "report/print.h"
#include "report/words.h"

namespace npukit::report::html {
namespace {

Table LatencyTable(const Bench& r) {
  Table t;
  t.title = "Latency in ms";
  t.headings = {{"of", Column::kName},
                {"p50", Column::kNumber},
                {"p90", Column::kNumber},
                {"p95", Column::kNumber},
                {"p99", Column::kNumber},
                {"least", Column::kNumber},
                {"most", Column::kNumber},
                {"mean", Column::kNumber},
                {"standard deviation", Column::kNumber}};
  const auto add = [&](const std::string& name, const Latency& l, Kind kind) {
    std::vector<Cell> row = {{.text = name}};
    const int decimals = DecimalsFor(l.p50);
    for (const double v : {l.p50, l.p90, l.p95, l.p99, l.min, l.max, l.mean, l.std})
      row.push_back(NumberCell(v, decimals, kind));
    t.rows.push_back(std::move(row));
  };
  add("one inference", r.latency_ms, r.kind);
  if (r.kind != Kind::kMeasured) add("the simulation itself, here", r.wall_ms, Kind::kMeasured);
  return t;
}

Pairs Conditions(const Bench& r) {
  Pairs p;
  p.lines = {{"Model", r.model},
             {"SHA-256", r.model_sha256},
             {"Asked for", r.device},
             {"Ran on", r.device_description},
             {"Target", r.target.name}};
  for (const std::string& s : r.target.set) p.lines.emplace_back("Changed by --set", s);
  p.lines.insert(
      p.lines.end(),
      {{"Program", r.program},
       {"Threads", std::to_string(r.threads)},
       {"Requests at once", std::to_string(r.concurrency)},
       {"Iterations", std::to_string(r.iterations)},
       {"Seed of random inputs", std::to_string(r.seed)},
       {"First inference",
        fmt::format("{} ({})", Ms(r.first_inference_ms), target::KindName(r.kind))},
       {"Load", FigureText(r.load_ms)},
       {"Compile", FigureText(r.compile_ms)},
       {"Resident memory", fmt::format("{} idle, {} at most", FigureText(r.idle_rss_bytes),
                                       FigureText(r.peak_rss_bytes))},
       {"Arena", BytesText(static_cast<double>(r.arena_bytes))},
       {"Weights", BytesText(static_cast<double>(r.weights_bytes))},
       {"Copies per run",
        fmt::format("{:.4g}, {}", r.copies_per_run, BytesText(r.bytes_copied_per_run))}});
  return p;
}

Table StepsTable(const std::vector<BenchStep>& steps) {
  Table t;
  t.title = "Steps of one run, in order";
  t.headings = {{"step", Column::kNumber},
                {"device", Column::kDevice},
                {"time, ms", Column::kNumber},
                {"energy, mJ", Column::kNumber}};
  double most = 0;
  for (const BenchStep& s : steps) most = std::max(most, s.ms.value);
  for (const BenchStep& s : steps) {
    Cell time = NumberCell(s.ms.value, DecimalsFor(most), s.ms.kind);
    time.part = most > 0 ? s.ms.value / most : 0;
    t.rows.push_back(
        {NumberCell(s.segment, 0),
         {.text = s.device},
         time,
         s.energy_mj ? NumberCell(s.energy_mj->value, 4, s.energy_mj->kind) : NoCell()});
  }
  return t;
}

}  // namespace

Page ToPage(const Bench& r) {
  Page page("bench", FileName(r.model),
            "on " + r.device_description + " for " + TargetText(r.target));
  if (!r.void_reason.empty())
    page.Add(Answer{Tone::kBad, "This reading is not usable.", r.void_reason});
  if (!r.off_npu.empty()) page.Add(Answer{Tone::kWarn, "Off the NPU:", r.off_npu});
  std::vector<Tile> tiles;
  tiles.push_back(TimeTile("Latency, p50", r.latency_ms.p50, r.kind,
                           fmt::format("p99 {}", Ms(r.latency_ms.p99))));
  tiles.push_back({"Throughput", Fixed(r.throughput_per_s, DecimalsFor(r.throughput_per_s)), "/s",
                   r.kind, fmt::format("{} at once", r.concurrency)});
  if (r.energy_mj) tiles.push_back(FigureTile("Energy per run", *r.energy_mj));
  if (r.power_mw) tiles.push_back(FigureTile("Power", *r.power_mw));
  if (r.npu_utilisation)
    tiles.push_back(FigureTile("NPU utilisation", *r.npu_utilisation, "of its peak multiply-adds"));
  if (r.npu_busy) tiles.push_back(FigureTile("NPU busy", *r.npu_busy, "of the time"));
  tiles.push_back(FigureTile("Memory at most", r.peak_rss_bytes));
  page.Add(tiles);
  if (r.compute_units.total > 0) page.AddCard(UnitsBar(r.compute_units));

  page.Section("Latency",
               r.kind == Kind::kMeasured
                   ? "Measured on this machine, after a warm-up."
                   : "By the model's clock; beside it, how long the simulation took here.");
  page.Add(LatencyTable(r));
  if (!r.ops.empty()) {
    page.Section("Timeline", "Operators on top, below them the queues that work for them.");
    page.Add(OpsTimeline(r.ops, r.spans, r.latency_ms.p50));
    page.Section("Operators", "Click a heading to sort; a bar in the timeline marks its row.");
    page.Add(OpsTable(r.ops, r.verdicts));
  }
  if (r.roofline) {
    page.Section("Roofline", "What the CPU's steps reached on this machine, the fastest of " +
                                 CountText(static_cast<std::size_t>(r.roofline->runs), "run") +
                                 ".");
    page.Add(RooflineKernelsTable(*r.roofline));
    page.Add(RooflineStepsTable(*r.roofline));
  }
  if (!r.steps.empty()) {
    page.Section("Steps", "A step is a part of the program that one device runs in one go.");
    page.Add(StepsTable(r.steps));
  }
  page.Section("Conditions");
  page.AddCard(Conditions(r));
  AddFacts(r.target, r.verdicts, page);
  return page;
}

}  // namespace npukit::report::html
