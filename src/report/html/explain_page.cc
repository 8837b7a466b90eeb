#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "report/html/pages.h"
#include "report/html/parts.h"
#include "report/print.h"
#include "report/words.h"

namespace npukit::report::html {
namespace {

struct Words {
  std::string_view code, what, hue;
};
constexpr std::array<Words, 8> kWords = {{
    {"dispatch", "starting tasks and calls", "c4"},
    {"weight_streaming", "reading weights from DRAM", "c5"},
    {"shape_underfill", "products of padding", "c3"},
    {"vector_bound", "work of the vector unit", "c0"},
    {"layout", "changing layout or type", "c2"},
    {"boundary_copies", "handing tensors over", "c6"},
    {"cpu_islands", "operators on the CPU", "cpu"},
    {"hardware_bound", "what is left: the hardware's bound", "rest"},
}};

const Words& WordsOf(const std::string& code) {
  const auto at =
      std::find_if(kWords.begin(), kWords.end(), [&](const Words& w) { return w.code == code; });
  return at == kWords.end() ? kWords.back() : *at;
}

std::string Spaced(std::string code) {
  std::replace(code.begin(), code.end(), '_', ' ');
  return code;
}

Bar CausesBar(const Explain& r) {
  Bar bar{"Where the time goes", "ms", DecimalsFor(r.total_ms) + 1, r.kind, {}};
  for (const CauseLine& c : r.causes) {
    std::string more(WordsOf(c.code).what);
    std::size_t shown = 0;
    for (const auto& [name, ms] : c.nodes) {
      if (shown == 2) break;
      more +=
          fmt::format("{} {} {:.3g} ms", shown++ == 0 ? "; most:" : ",", name.substr(0, 60), ms);
    }
    bar.parts.push_back({Spaced(c.code), c.ms, std::string(WordsOf(c.code).hue), more});
  }
  return bar;
}

Table CauseNodes(const Explain& r) {
  Table t;
  t.title = "Operators that pay most, by cause";
  t.headings = {
      {"operator", Column::kName}, {"cause", Column::kText}, {"costs, \u00b5s", Column::kNumber}};
  double most = 0;
  for (const CauseLine& c : r.causes) {
    for (const auto& [name, ms] : c.nodes) most = std::max(most, ms * 1e3);
  }
  for (const CauseLine& c : r.causes) {
    for (const auto& [name, ms] : c.nodes) {
      Cell cost = NumberCell(ms * 1e3, DecimalsFor(most), c.kind);
      cost.part = most > 0 ? ms * 1e3 / most : 0;
      t.rows.push_back({{.text = name}, {.text = Spaced(c.code)}, cost});
    }
  }
  return t;
}

Table WhatIfTable(const Explain& r) {
  Table t;
  t.title = "What if";
  t.headings = {{"what if", Column::kName},
                {"saves, ms", Column::kNumber},
                {"then, ms", Column::kNumber},
                {"of the time", Column::kNumber},
                {"moves", Column::kText}};
  const int decimals = DecimalsFor(r.total_ms) + 1;
  for (const WhatIf& w : r.what_if) {
    std::string moves;
    if (!w.new_verdicts.empty()) {
      const auto on_npu =
          std::count_if(w.new_verdicts.begin(), w.new_verdicts.end(),
                        [](const target::Verdict& v) { return v.placed_on == "NPU"; });
      moves = fmt::format("{} of {} operators to the NPU", on_npu, w.new_verdicts.size());
    }
    Cell saves = NumberCell(w.saves_ms, decimals, w.kind);
    saves.part = r.total_ms > 0 ? w.saves_ms / r.total_ms : 0;
    Cell share = NumberCell(r.total_ms > 0 ? 100 * w.saves_ms / r.total_ms : 0, 1, w.kind);
    share.text += " %";
    t.rows.push_back({{.text = w.change},
                      saves,
                      NumberCell(r.total_ms - w.saves_ms, decimals, w.kind),
                      share,
                      {.text = moves}});
  }
  return t;
}

Table AlternativesTable(const Explain& r) {
  Table t;
  t.title = "This program and the others for the same inputs";
  t.headings = {{"program", Column::kName},
                {"devices", Column::kDevice},
                {"time, ms", Column::kNumber},
                {"energy, mJ", Column::kNumber}};
  const auto add = [&](const std::string& program, const std::string& device, double ms, double mj,
                       Kind kind) {
    t.rows.push_back({{.text = program},
                      {.text = device},
                      NumberCell(ms, DecimalsFor(r.total_ms) + 1, kind),
                      NumberCell(mj, DecimalsFor(r.energy_mj) + 1, kind)});
  };
  add(r.program + " (this one)", r.devices, r.total_ms, r.energy_mj, r.kind);
  for (const Alternative& a : r.alternatives) add(a.program, a.device, a.ms, a.energy_mj, a.kind);
  return t;
}

Table InsensitiveTable(const Explain& r) {
  Table t;
  t.title = "Assumed facts that never change an answer";
  t.headings = {{"assumed fact", Column::kName}, {"value", Column::kNumber},
                {"unit", Column::kText},         {"tried from", Column::kNumber},
                {"to", Column::kNumber},         {"because", Column::kText}};
  for (const Insensitive& s : r.insensitive_to) {
    const auto end = [&](double v) {
      return s.tried_from == s.tried_to ? NoCell()
                                        : Cell{.text = fmt::format("{:.4g}", v), .value = v};
    };
    t.rows.push_back(
        {{.text = s.fact},
         {.text = fmt::format("{:.4g}", s.value), .value = s.value, .kind = Kind::kAssumed},
         {.text = s.unit},
         end(s.tried_from),
         end(s.tried_to),
         {.text = s.because}});
  }
  return t;
}

Table SensitivityTable(const Explain& r) {
  Table t;
  t.title = "Assumed facts that would change an answer";
  t.headings = {{"assumed fact", Column::kName}, {"value", Column::kNumber},
                {"flips at", Column::kNumber},   {"factor", Column::kNumber},
                {"unit", Column::kText},         {"then", Column::kText}};
  for (const Sensitivity& s : r.sensitive_to) {
    Cell factor = NoCell();
    if (s.value > 0) {
      factor = NumberCell(s.flips_at / s.value, 2);
      factor.text = Cat("\u00d7 ", factor.text);
    }
    t.rows.push_back(
        {{.text = s.fact},
         {.text = fmt::format("{:.4g}", s.value), .value = s.value, .kind = Kind::kAssumed},
         {.text = fmt::format("{:.4g}", s.flips_at), .value = s.flips_at, .kind = Kind::kModelled},
         factor,
         {.text = s.unit},
         {.text = fmt::format("{}: {}", s.conclusion, s.becomes)}});
  }
  return t;
}

std::string OrUnknown(const std::string& word) { return word.empty() ? "unknown" : word; }

Answer AdoptAnswer(const Adopt& a) {
  const int yes = (a.latency == "yes") + (a.energy == "yes") + (a.heat == "yes");
  const bool all = yes == 3;
  std::string because = a.because;
  if (!because.empty() && because[0] >= 'a' && because[0] <= 'z')
    because[0] = static_cast<char>(because[0] - 'a' + 'A');
  return {all       ? Tone::kGood
          : yes > 0 ? Tone::kWarn
                    : Tone::kPlain,
          fmt::format("Use the NPU? For latency {}, for energy {}, for heat {}.",
                      OrUnknown(a.latency), OrUnknown(a.energy), OrUnknown(a.heat)),
          because};
}

}  // namespace

Page ToPage(const Explain& r) {
  Page page("explain", FileName(r.model), r.program + " on " + TargetText(r.target));
  page.Add(AdoptAnswer(r.adopt));
  std::vector<Tile> tiles;
  tiles.push_back(TimeTile("One run", r.total_ms, r.kind, r.devices));
  tiles.push_back(FigureTile("Energy", {r.energy_mj, "mJ", r.kind}));
  tiles.push_back(TimeTile(
      "No less than", std::max(r.compute_bound_ms, r.memory_bound_ms), r.kind,
      fmt::format("multiply-adds {}, DRAM {}", Ms(r.compute_bound_ms), Ms(r.memory_bound_ms))));
  if (!r.alternatives.empty()) {
    const Alternative& a = r.alternatives.front();
    tiles.push_back(TimeTile("Best alternative", a.ms, a.kind, a.program));
  }
  page.Add(tiles);
  page.AddCard(CausesBar(r));
  for (const std::string& note : r.notes) page.Add(Answer{Tone::kPlain, "Note:", note});

  page.Section("Causes",
               "Taken away in this order, each with those before it already free, so that they "
               "add up to the whole. Below: the operators that pay most.");
  page.Add(CauseNodes(r));
  if (!r.what_if.empty()) {
    page.Section("What if", "Each change alone.");
    page.Add(WhatIfTable(r));
  }
  if (!r.ops.empty()) {
    page.Section("Timeline", "Operators on top, below them the queues that work for them.");
    page.Add(OpsTimeline(r.ops, r.spans, r.total_ms));
    page.Section("Operators", "Click a heading to sort; a bar in the timeline marks its row.");
    page.Add(OpsTable(r.ops, r.verdicts));
  }
  if (std::any_of(r.verdicts.begin(), r.verdicts.end(), IsOffNpu)) {
    page.Section("Not on the NPU", "One card a reason. docs/reasons.md says more about each code.");
    AddFindings(r.verdicts, page);
  }
  page.Section("Alternatives");
  page.Add(AlternativesTable(r));
  if (r.compute_units.total > 0) page.AddCard(UnitsBar(r.compute_units));
  if (r.assumed_facts > 0) {
    page.Section(
        "How sure is this",
        r.sensitive_to.empty()
            ? fmt::format(
                  "None of the {} assumed facts changes an answer, wherever in its range it is.",
                  r.assumed_facts)
            : fmt::format("{} assumed facts were tried; these would turn an answer round.",
                          r.assumed_facts));
    if (!r.sensitive_to.empty()) page.Add(SensitivityTable(r));
  }
  if (!r.insensitive_to.empty()) page.Add(InsensitiveTable(r));
  AddFacts(r.target, r.verdicts, page);
  return page;
}

}  // namespace npukit::report::html
