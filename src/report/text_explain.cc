#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/text.h"
#include "report/print.h"
#include "report/table.h"
#include "report/words.h"

namespace npukit::report {
namespace {

constexpr int kBarWidth = 30;
constexpr std::size_t kMostSensitive = 12;

struct Words {
  std::string_view code, what;
};
constexpr Words kWords[] = {
    {"dispatch", "starting tasks and calls"},
    {"weight_streaming", "reading weights from DRAM"},
    {"shape_underfill", "products of padding"},
    {"vector_bound", "work of the vector unit"},
    {"layout", "changing layout or type"},
    {"boundary_copies", "handing tensors over"},
    {"cpu_islands", "operators on the CPU"},
    {"hardware_bound", "what is left: cube, copies on chip, activations"},
};

std::string What(const std::string& code) {
  for (const Words& w : kWords) {
    if (w.code == code) return std::string(w.what);
  }
  return "";
}

std::string NodesText(const CauseLine& c) {
  std::vector<std::string> parts;
  for (const auto& [name, ms] : c.nodes) {
    if (parts.size() == 2) break;
    parts.push_back(fmt::format("{} {:.3g}", Printable(name, 32), ms));
  }
  return Join(parts, ", ");
}

std::string CausesText(const Explain& r) {
  Table table({"cause", ">time", ">share", "", "", "most of it (ms)"});
  for (const CauseLine& c : r.causes) {
    table.Add(
        {c.code, Ms(c.ms), Percent(c.share), Bar(c.share, kBarWidth), What(c.code), NodesText(c)});
  }
  table.Add({"total", Ms(r.total_ms), Percent(1)});
  return table.ToText("  ");
}

std::string OffNpuText(const Explain& r) {
  struct Group {
    std::size_t count = 0;
    const target::Verdict* first = nullptr;
  };
  std::map<std::string, Group> by_code;
  for (const target::Verdict& v : r.verdicts) {
    if (v.placed_on != "CPU" || v.from.empty() || v.code.empty()) continue;
    Group& g = by_code[v.code];
    if (g.count++ == 0) g.first = &v;
  }
  if (by_code.empty()) return "";
  Table table({">operators", "code", "first", "because", "what to do"});
  for (const auto& [code, g] : by_code) {
    table.Add({std::to_string(g.count), code,
               fmt::format("{} ({})", Names(g.first->from, 1), OperatorName(*g.first)),
               Printable(g.first->reason, 200), Printable(g.first->remedy, 200)});
  }
  return fmt::format("\nNot on the NPU:\n{}", table.ToText("  "));
}

std::string WhatIfText(const Explain& r) {
  Table table({"what if", ">saves", ">then", ""});
  for (const WhatIf& w : r.what_if) {
    std::string moved;
    if (!w.new_verdicts.empty()) {
      const auto on_npu =
          std::count_if(w.new_verdicts.begin(), w.new_verdicts.end(),
                        [](const target::Verdict& v) { return v.placed_on == "NPU"; });
      moved = fmt::format("{} of {} operators move to the NPU", on_npu, w.new_verdicts.size());
    }
    table.Add({Printable(w.change, 100), Ms(w.saves_ms), Ms(r.total_ms - w.saves_ms), moved});
  }
  return table.empty() ? "" : fmt::format("\nEach alone:\n{}", table.ToText("  "));
}

std::string AdoptText(const Explain& r) {
  std::string out;
  if (!r.alternatives.empty()) {
    Table table({"instead", ">time", ">energy"});
    for (const Alternative& a : r.alternatives) {
      table.Add({a.program, fmt::format("{} ({})", Ms(a.ms), target::KindName(a.kind)),
                 fmt::format("{:.4g} mJ", a.energy_mj)});
    }
    out += fmt::format("\n{}", table.ToText("  "));
  }
  const auto word = [](const std::string& w) { return w.empty() ? "unknown" : w; };
  return out + fmt::format("\nAdopt the NPU for latency: {}, energy: {}, heat: {}.\n  {}\n",
                           word(r.adopt.latency), word(r.adopt.energy), word(r.adopt.heat),
                           r.adopt.because);
}

std::string TriedText(const Insensitive& s) {
  if (s.tried_from == s.tried_to) return "";
  return fmt::format("{:.4g} to {:.4g}", s.tried_from, s.tried_to);
}

std::string InsensitiveText(const Explain& r) {
  Table table({"assumed fact", ">value", "unit", "tried", ""});
  for (const Insensitive& s : r.insensitive_to) {
    table.Add(
        {s.fact, fmt::format("{:.4g}", s.value), s.unit, TriedText(s), Printable(s.because, 200)});
  }
  return table.empty()
             ? ""
             : fmt::format("\nAssumed facts that never change an answer:\n{}", table.ToText("  "));
}

std::string SensitivityText(const Explain& r) {
  if (r.sensitive_to.empty()) {
    if (r.assumed_facts == 0) return InsensitiveText(r);
    return fmt::format(
               "\nNone of the {} assumed facts tried changes an answer, wherever in its range it "
               "is.\n",
               r.assumed_facts) +
           InsensitiveText(r);
  }
  Table table({"assumed fact", ">value", ">flips at", "unit", "then"});
  for (std::size_t i = 0; i < r.sensitive_to.size() && i < kMostSensitive; ++i) {
    const Sensitivity& s = r.sensitive_to[i];
    table.Add({s.fact, fmt::format("{:.4g}", s.value), fmt::format("{:.4g}", s.flips_at), s.unit,
               fmt::format("{}: {}", s.conclusion, s.becomes)});
  }
  std::string out = fmt::format("\nAssumed facts that would change an answer ({} tried):\n{}",
                                r.assumed_facts, table.ToText("  "));
  if (r.sensitive_to.size() > kMostSensitive) {
    out +=
        fmt::format("  and {} farther away, in --json\n", r.sensitive_to.size() - kMostSensitive);
  }
  return out + InsensitiveText(r);
}

}  // namespace

std::string ToText(const Explain& r) {
  std::string out = fmt::format("{} on {}\nProgram: {}\n", Printable(r.model, 400),
                                TargetText(r.target), r.program);
  out += fmt::format(
      "Takes {} ({}), {:.4g} mJ; no less than {} for its multiply-adds at peak, {} for its "
      "weights, "
      "inputs and outputs through DRAM.\n",
      Ms(r.total_ms), target::KindName(r.kind), r.energy_mj, Ms(r.compute_bound_ms),
      Ms(r.memory_bound_ms));
  for (const std::string& n : r.notes) out += fmt::format("Note: {}\n", Printable(n, 400));
  out += "\nWhere the time goes, each taken away after those above it:\n" + CausesText(r);
  out += WhatIfText(r);
  out += OffNpuText(r);
  out += AdoptText(r);
  out += SensitivityText(r);
  return out + "\n" + ComputeUnitsLine(r.compute_units) + "\n";
}

}  // namespace npukit::report
