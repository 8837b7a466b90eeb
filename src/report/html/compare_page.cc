#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "report/html/pages.h"
#include "report/html/parts.h"
#include "report/print.h"
#include "report/words.h"

namespace npukit::report::html {
namespace {

// Enough digits to tell 0.99999 from 1.
Cell CosineCell(const Closeness& c, bool within) {
  Cell cell{.text = fmt::format("{:.7f}", c.cosine), .value = c.cosine, .kind = Kind::kMeasured};
  if (c.mismatched > 0) {
    cell.text = fmt::format("{} not finite", c.mismatched);
    cell.value = -1;
  } else if (!c.snr_db) {
    cell.text = "exact";
  }
  if (!within) cell.tone = Tone::kBad;
  return cell;
}
Cell SnrCell(const Closeness& c) {
  return c.snr_db ? NumberCell(*c.snr_db, 1, Kind::kMeasured) : NoCell();
}
Cell MaxCell(const Closeness& c) {
  return {.text = fmt::format("{:.3g}", c.max_abs), .value = c.max_abs, .kind = Kind::kMeasured};
}

Table OutputsTable(const Compare& r) {
  Table t;
  t.title = "Outputs";
  t.headings = {{"output", Column::kName},
                {"cosine", Column::kNumber},
                {"SNR, dB", Column::kNumber},
                {"largest difference", Column::kNumber},
                {"limit", Column::kText}};
  for (const CompareOutput& o : r.outputs) {
    t.rows.push_back({{.text = o.name},
                      CosineCell(o.closeness, o.within),
                      SnrCell(o.closeness),
                      MaxCell(o.closeness),
                      {.text = o.within ? "within" : "below the limit",
                       .tone = o.within ? Tone::kGood : Tone::kBad}});
  }
  return t;
}

Table LayersTable(const Compare& r) {
  Table t;
  t.title = "Layers";
  t.headings = {{"layer", Column::kName},
                {"runs on", Column::kDevice},
                {"type", Column::kText},
                {"order", Column::kNumber},
                {"entire: cosine", Column::kNumber},
                {"entire: SNR, dB", Column::kNumber},
                {"single: cosine", Column::kNumber},
                {"single: SNR, dB", Column::kNumber},
                {"limit", Column::kText}};
  for (std::size_t i = 0; i < r.layers.size(); ++i) {
    const CompareLayer& l = r.layers[i];
    std::string mark;
    if (!l.single_within || !l.entire_within)
      mark = l.single_within ? "entire is below" : "single is below";
    if (r.first_divergence && r.first_divergence->layer == i) mark = Cat("first: ", mark);
    t.rows.push_back({{.text = l.node},
                      {.text = l.device},
                      {.text = l.op},
                      NumberCell(static_cast<double>(i + 1), 0),
                      CosineCell(l.entire, l.entire_within),
                      SnrCell(l.entire),
                      CosineCell(l.single, l.single_within),
                      SnrCell(l.single),
                      {.text = mark, .tone = Tone::kBad}});
  }
  t.after =
      "entire: the device's own values from the network's input on, so errors gather. single: this "
      "layer "
      "alone, fed with the reference's values.";
  return t;
}

Answer AnswerOf(const Compare& r) {
  if (!r.within()) {
    return {Tone::kBad, "An output differs more than allowed.",
            fmt::format("The limit is a cosine of {:.6g}.", r.min_cosine)};
  }
  if (r.first_divergence) {
    return {Tone::kWarn, "The outputs are within the limit, a layer is not.",
            fmt::format("First: {}, whose {} cosine is {:.6g}.", r.first_divergence->node,
                        r.first_divergence->column, r.first_divergence->cosine)};
  }
  return {Tone::kGood, "Every output agrees with the reference.",
          fmt::format("The limit is a cosine of {:.6g}.", r.min_cosine)};
}

}  // namespace

Page ToPage(const Compare& r) {
  Page page("compare", FileName(r.model), "on " + r.device + " for " + TargetText(r.target));
  page.Add(AnswerOf(r));
  double least = 1;
  for (const CompareOutput& o : r.outputs) least = std::min(least, o.closeness.cosine);
  std::vector<Tile> tiles;
  if (!r.outputs.empty())
    tiles.push_back(
        {"Least cosine of an output", fmt::format("{:.6f}", least), "", Kind::kMeasured, ""});
  if (!r.layers.empty()) {
    const auto below = std::count_if(r.layers.begin(), r.layers.end(), [](const CompareLayer& l) {
      return !l.single_within || !l.entire_within;
    });
    tiles.push_back({"Layers below the limit", std::to_string(below), "", Kind::kMeasured,
                     fmt::format("of {}", r.layers.size())});
  }
  page.Add(tiles);
  Pairs pairs;
  pairs.lines = {{"Model", r.model},
                 {"Program", r.program},
                 {"Ran on", r.device},
                 {"Precision", r.precision},
                 {"Reference", r.reference}};
  if (!r.against.empty()) pairs.lines.emplace_back("Against", r.against);
  pairs.lines.emplace_back("Seed of random inputs", std::to_string(r.seed));
  page.AddCard(pairs);
  if (r.compute_units.total > 0) page.AddCard(UnitsBar(r.compute_units));
  for (const std::string& note : r.notes) page.Add(Answer{Tone::kPlain, "Note:", note});
  page.Section("Outputs");
  page.Add(OutputsTable(r));
  if (!r.layers.empty()) {
    page.Section("Layers", "In order of running.");
    page.Add(LayersTable(r));
  }
  AddFacts(r.target, {}, page);
  return page;
}

}  // namespace npukit::report::html
