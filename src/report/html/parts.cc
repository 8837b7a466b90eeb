#include "report/html/parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "report/print.h"
#include "report/words.h"

namespace npukit::report::html {
namespace {

std::string NodeNames(const target::Verdict& v) {
  if (v.from.empty()) return "(layout)";
  std::string text;
  for (std::size_t i = 0; i < v.from.size() && i < 3; ++i) text += (i ? " + " : "") + v.from[i];
  if (v.from.size() > 3) text += fmt::format(" + {} more", v.from.size() - 3);
  return text;
}

std::string OperatorText(const target::Verdict& v) { return v.op.empty() ? v.foreign_op : v.op; }

std::string PlacedText(const target::Verdict& v) {
  return v.placed_on.empty() ? "nothing" : v.placed_on;
}

// "npu.op.conv2d.max_kernel is 7, this operator needs 11"
std::string LimitText(const target::Verdict& v) {
  if (v.limit.empty() && v.found.empty()) return v.fact;
  std::string text = v.fact.empty() ? "limit" : v.fact;
  if (!v.limit.empty()) text += " is " + v.limit;
  if (!v.found.empty()) text += (v.limit.empty() ? " found " : ", found ") + v.found;
  return text;
}

Tone SourceTone(const std::string& source) {
  return source == "assumed" ? Tone::kWarn : source == "measured" ? Tone::kGood : Tone::kPlain;
}

std::string NodeOf(const std::string& task) { return task.substr(0, task.find('+')); }

}  // namespace

std::string FileName(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

Tile TimeTile(std::string name, double ms, Kind kind, std::string more) {
  const bool micro = ms < 1;
  const double shown = micro ? ms * 1e3 : ms;
  return {std::move(name), Fixed(shown, DecimalsFor(shown)), micro ? "\u00b5s" : "ms", kind,
          std::move(more)};
}

Tile FigureTile(std::string name, const Figure& f, std::string more) {
  if (f.unit == "ms") return TimeTile(std::move(name), f.value, f.kind, std::move(more));
  if (f.unit == "1") {
    return {std::move(name), Fixed(100 * f.value, DecimalsFor(100 * f.value)), "%", f.kind,
            std::move(more)};
  }
  if (f.unit == "B") {
    const std::string text = BytesText(f.value);
    const std::size_t space = text.find(' ');
    return {std::move(name), text.substr(0, space), text.substr(space + 1), f.kind,
            std::move(more)};
  }
  return {std::move(name), Fixed(f.value, DecimalsFor(f.value)), f.unit, f.kind, std::move(more)};
}

Bar UnitsBar(const format::ComputeUnits& u) {
  Bar bar{"Where the model's nodes run", "nodes", 0, std::nullopt, {}};
  bar.parts = {{"NPU", static_cast<double>(u.npu), "npu", ""},
               {"GPU", static_cast<double>(u.gpu), "gpu", ""},
               {"CPU", static_cast<double>(u.cpu), "cpu", ""},
               {"folded: constant or removed", static_cast<double>(u.folded), "folded", ""}};
  return bar;
}

std::string CountText(std::size_t n, const std::string& noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

bool IsOffNpu(const target::Verdict& v) { return v.placed_on != "NPU" && v.placed_on != "folded"; }

void AddFindings(const std::vector<target::Verdict>& verdicts, Page& page) {
  struct Group {
    Finding finding;
    std::set<std::string> limits;
    std::size_t operators = 0;
  };
  std::map<std::string, Group> by_code;
  for (const target::Verdict& v : verdicts) {
    if (!IsOffNpu(v)) continue;
    Group& g = by_code[v.code.empty() ? "no_reason" : v.code];
    if (g.operators++ == 0) {
      g.finding.title = v.code.empty() ? "no reason given" : v.code;
      g.finding.because.push_back(v.reason);
      g.finding.remedy = v.remedy;
    }
    if (!v.fact.empty() || !v.found.empty()) g.limits.insert(LimitText(v));
    if (v.placed_on.empty()) g.finding.tone = Tone::kBad;  // runs nowhere
    g.finding.names.push_back(fmt::format("{} ({})", NodeNames(v), OperatorText(v)));
  }
  std::vector<Group*> order;
  for (auto& [code, g] : by_code) order.push_back(&g);
  std::stable_sort(order.begin(), order.end(),
                   [](const Group* a, const Group* b) { return a->operators > b->operators; });
  for (Group* g : order) {
    g->finding.count = CountText(g->operators, "operator");
    std::size_t shown = 0;
    for (const std::string& limit : g->limits) {
      if (++shown > 3) break;
      g->finding.because.push_back(limit);
    }
    if (g->limits.size() > 3)
      g->finding.because.push_back(fmt::format("and {} other limits", g->limits.size() - 3));
    page.Add(g->finding);
  }
}

Table VerdictTable(const std::vector<target::Verdict>& verdicts) {
  Table t;
  t.title = "Operators";
  t.headings = {{"operator", Column::kName},  {"type", Column::kText},
                {"runs on", Column::kDevice}, {"reason code", Column::kCode},
                {"why", Column::kLong},       {"limit", Column::kName},
                {"rewrite", Column::kText}};
  for (const target::Verdict& v : verdicts) {
    const bool off = IsOffNpu(v);
    std::string rewrite = v.rewrite;
    if (!v.rewrite_result.empty()) rewrite += (rewrite.empty() ? "" : ": ") + v.rewrite_result;
    t.rows.push_back({{.text = NodeNames(v)},
                      {.text = OperatorText(v)},
                      {.text = PlacedText(v)},
                      {.text = v.code, .tone = off ? Tone::kWarn : Tone::kPlain},
                      {.text = v.reason},
                      {.text = v.fact.empty() && v.found.empty() ? "" : LimitText(v)},
                      {.text = rewrite}});
  }
  return t;
}

Timeline OpsTimeline(const std::vector<OpRow>& ops, const std::vector<target::Span>& spans,
                     double total_ms) {
  Timeline t;
  t.end_ns = total_ms * 1e6;
  t.id = kTimelineId;
  t.title = "One run";
  t.kind = Kind::kModelled;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    t.Add(ops[i].device + " operators", {.name = ops[i].name,
                                         .start_ns = ops[i].start_ms * 1e6,
                                         .duration_ns = ops[i].ms * 1e6,
                                         .task = static_cast<std::uint32_t>(i)});
  }
  for (const target::Span& s : spans) {
    const std::string& of = s.task < ops.size() ? ops[s.task].name : s.name;
    t.Add(s.track, {.name = of == s.name ? of : fmt::format("{} ({})", of, s.name),
                    .start_ns = s.start_ns,
                    .duration_ns = s.duration_ns,
                    .task = s.task});
  }
  return t;
}

Table OpsTable(const std::vector<OpRow>& ops, const std::vector<target::Verdict>& verdicts) {
  std::map<std::string, const target::Verdict*> by_node;
  for (const target::Verdict& v : verdicts) {
    for (const std::string& name : v.from) by_node.try_emplace(name, &v);
  }
  double most_us = 0, most_mj = 0;
  for (const OpRow& o : ops) {
    most_us = std::max(most_us, o.ms * 1e3);
    most_mj = std::max(most_mj, o.energy_mj);
  }
  const int us_decimals = std::min(2, DecimalsFor(most_us) + 1);
  Table t;
  t.title = "Operators, one row a task";
  t.timeline = kTimelineId;
  t.headings = {{"operator", Column::kName},
                {"runs on", Column::kDevice},
                {"work", Column::kText},
                {"time, \u00b5s", Column::kNumber},
                {"share", Column::kNumber},
                {"bound, \u00b5s", Column::kNumber},
                {"utilisation", Column::kNumber},
                {"DRAM, kB", Column::kNumber},
                {"energy, \u00b5J", Column::kNumber},
                {"reason", Column::kCode}};
  constexpr Kind kKind = Kind::kModelled;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const OpRow& o = ops[i];
    const auto verdict = by_node.find(NodeOf(o.name));
    const std::string reason = verdict == by_node.end() ? "" : verdict->second->code;
    Cell time = NumberCell(o.ms * 1e3, us_decimals, kKind);
    time.part = most_us > 0 ? o.ms * 1e3 / most_us : 0;
    Cell share = NumberCell(100 * o.share, 1, kKind);
    share.text += " %";
    Cell use = o.macs > 0 ? NumberCell(100 * o.utilisation, 1, kKind) : NoCell();
    if (o.macs > 0) use.text += " %";
    t.rows.push_back({{.text = o.name},
                      {.text = o.device},
                      {.text = o.kind},
                      time,
                      share,
                      NumberCell(o.bound_ms * 1e3, us_decimals, kKind),
                      use,
                      NumberCell(o.dram_bytes / 1e3, 1, kKind),
                      NumberCell(o.energy_mj * 1e3, DecimalsFor(most_mj * 1e3), kKind),
                      {.text = reason, .tone = Tone::kWarn}});
    t.tasks.push_back(static_cast<std::uint32_t>(i));
  }
  t.after =
      "bound: the longer of a task's multiply-adds at the peak and its own tensors once through "
      "DRAM. utilisation: multiply-adds over the peak times its time, padding not counted.";
  return t;
}

void AddFacts(const Target& target, const std::vector<target::Verdict>& verdicts, Page& page) {
  if (target.facts.empty()) return;
  std::set<std::string> decided;
  for (const target::Verdict& v : verdicts) {
    if (!v.fact.empty() && IsOffNpu(v)) decided.insert(v.fact);
  }
  std::vector<const FactLine*> order;
  std::size_t assumed = 0;
  for (const FactLine& f : target.facts) {
    order.push_back(&f);
    assumed += f.source == "assumed";
  }
  const auto rank = [&](const FactLine* f) {
    return f->ref == "--set" ? 0 : decided.contains(f->key) ? 1 : 2;
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](const FactLine* a, const FactLine* b) { return rank(a) < rank(b); });
  page.Section(
      "Facts",
      fmt::format(
          "What is known of {}, and how: {} facts, {} of them assumed.{}", target.name,
          order.size(), assumed,
          decided.empty() ? "" : " Those that were changed, then those that decided, come first."));
  Table t;
  t.title = "Facts of the target";
  t.headings = {{"fact", Column::kName},      {"value", Column::kNumber}, {"unit", Column::kText},
                {"known by", Column::kText},  {"source", Column::kLong},  {"date", Column::kText},
                {"what it is", Column::kLong}};
  for (const FactLine* f : order) {
    Cell value{.text = FactText(f->value)};
    if (const double* d = std::get_if<double>(&f->value)) value.value = *d;
    t.rows.push_back({{.text = f->key},
                      value,
                      {.text = f->unit},
                      {.text = f->source, .tone = SourceTone(f->source)},
                      {.text = f->ref},
                      {.text = f->date},
                      {.text = f->summary}});
  }
  page.Add(t);
}

}  // namespace npukit::report::html
