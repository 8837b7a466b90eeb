#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/print.h"
#include "report/table.h"
#include "report/words.h"

namespace npukit::report {
namespace {

constexpr std::string_view kCost = "costs_more_than_it_saves";

bool OnNpu(const target::Verdict& v) { return v.placed_on == "NPU" || v.placed_on == "folded"; }
bool SameDecision(const target::Verdict& a, const target::Verdict& b) {
  return a.code == b.code && a.limit == b.limit && a.found == b.found && a.segment == b.segment;
}
std::string NodeName(const target::Verdict& v) {
  return v.from.empty() ? "(layout)" : Names(v.from, 2);
}
std::string Limits(const target::Verdict& v) {
  std::string text = v.fact;
  if (!v.limit.empty()) text += fmt::format("{}{}", text.empty() ? "" : " = ", v.limit);
  if (!v.found.empty()) text += fmt::format("{}{}", text.empty() ? "" : ", found ", v.found);
  return text;
}

Table ProgramTable(const std::vector<Program>& programs) {
  Table table({"devices", "precision", "shapes", ">segments", ">estimate", ">bytes", "nodes"});
  for (const Program& p : programs) {
    const format::ComputeUnits& u = p.compute_units;
    table.Add({p.devices, p.precision, ShapesText(p.shapes), std::to_string(p.segments.size()),
               FigureText(p.estimate), BytesText(static_cast<double>(p.bytes)),
               fmt::format("NPU {} GPU {} CPU {} folded {}", u.npu, u.gpu, u.cpu, u.folded)});
  }
  return table;
}

std::string PlanCacheLine(const PlanCache& c) {
  return fmt::format("Plans per input shape: {} kept (at most {} a stretch); found {}, made {}\n",
                     c.plans, c.limit, c.hits, c.misses);
}

std::string TensorLine(const Tensor& t) {
  std::string line =
      fmt::format("  {}  {}[{}]", Printable(t.name), t.dtype, JoinInts(t.shape, ", "));
  if (!t.source.empty()) line += fmt::format("  {}", t.source);
  if (!t.file.empty()) line += fmt::format("  {}", Printable(t.file, 400));
  line += '\n';
  return line;
}

}  // namespace

std::string ComputeUnitsLine(const format::ComputeUnits& u) {
  return fmt::format("Compute units: NPU ({}), GPU ({}), CPU ({}), folded ({}) | Total ({})", u.npu,
                     u.gpu, u.cpu, u.folded, u.total);
}

std::string ShapesText(const Shapes& shapes) {
  std::vector<std::string> parts;
  for (const auto& [name, dims] : shapes) {
    std::vector<std::string> sizes;
    for (const std::int64_t d : dims) sizes.push_back(d < 0 ? "?" : std::to_string(d));
    parts.push_back(Printable(name) + "=" + Join(sizes, "x"));
  }
  return Join(parts, " ");
}

std::string BytesText(double bytes) {
  if (bytes < 10e3) return fmt::format("{:.0f} B", bytes);
  if (bytes < 1e6) return fmt::format("{:.1f} kB", bytes / 1e3);
  if (bytes < 1e9) return fmt::format("{:.1f} MB", bytes / 1e6);
  return fmt::format("{:.1f} GB", bytes / 1e9);
}

std::string FigureText(const Figure& f) {
  const std::string value = f.unit == "ms"  ? Ms(f.value)
                            : f.unit == "B" ? BytesText(f.value)
                                            : fmt::format("{:.4g} {}", f.value, f.unit);
  return fmt::format("{} ({})", value, target::KindName(f.kind));
}

std::string FactText(const target::FactValue& value) {
  if (const double* d = std::get_if<double>(&value)) return Cat(*d);
  if (const std::string* s = std::get_if<std::string>(&value)) return Printable(*s);
  std::vector<std::string> parts;
  if (const auto* numbers = std::get_if<std::vector<double>>(&value)) {
    for (double d : *numbers) parts.push_back(Cat(d));
  } else {
    for (const std::string& s : std::get<std::vector<std::string>>(value))
      parts.push_back(Printable(s));
  }
  return fmt::format("[{}]", Join(parts, ", "));
}

std::string ToText(const Check& r) {
  std::string out = fmt::format("{} on {}", Printable(r.model, 400), TargetText(r.target));
  if (!r.shapes.empty()) out += fmt::format("  {}", ShapesText(r.shapes));
  out += "\n\n";
  Table table({"node", "operator", "placed on", "code", "because", "limit"});
  for (std::size_t i = 0; i < r.verdicts.size(); ++i) {
    const target::Verdict& v = r.verdicts[i];
    if (OnNpu(v)) continue;
    // An island that cost keeps off the NPU is one decision: one row, its last node named too.
    std::size_t last = i;
    if (v.code == kCost) {
      while (last + 1 < r.verdicts.size() && SameDecision(v, r.verdicts[last + 1])) ++last;
    }
    table.Add(
        {last == i ? NodeName(v) : fmt::format("{} .. {}", NodeName(v), NodeName(r.verdicts[last])),
         last == i ? OperatorName(v) : fmt::format("{} nodes", last - i + 1),
         v.placed_on.empty() ? "nothing" : v.placed_on, v.code, Printable(v.reason, 400),
         Limits(v)});
    i = last;
  }
  if (table.empty()) {
    out += "Every operator runs on the NPU.\n";
  } else {
    out += fmt::format("Not on the NPU:\n{}", table.ToText("  "));
    std::map<std::string, std::string> remedies;  // one line per code
    for (const target::Verdict& v : r.verdicts) {
      if (!OnNpu(v) && !v.remedy.empty()) remedies.try_emplace(v.code, v.remedy);
    }
    for (const auto& [code, remedy] : remedies)
      out += fmt::format("  {}: {}\n", code, Printable(remedy, 400));
  }
  out += fmt::format(
      "\nWeights: {}, {} as the device expands them; limit {}: {}\n",
      BytesText(static_cast<double>(r.bytes)), BytesText(static_cast<double>(r.restored_bytes)),
      BytesText(static_cast<double>(r.gate_bytes)), r.passes() ? "fits" : "does not fit");
  return out + ComputeUnitsLine(r.compute_units) + "\n";
}

std::string ToText(const Compile& r) {
  std::string out = fmt::format("{} for {}\n", Printable(r.model, 400), TargetText(r.target));
  out += ProgramTable(r.programs).ToText("  ");
  for (const std::string& w : r.warnings) out += fmt::format("warning: {}\n", Printable(w, 400));
  out += fmt::format("Weights: {} shared between programs, {} of their own\n",
                     BytesText(static_cast<double>(r.shared_bytes)),
                     BytesText(static_cast<double>(r.own_bytes)));
  if (!r.programs.empty()) out += ComputeUnitsLine(r.programs.front().compute_units) + "\n";
  if (r.output.empty()) return out + "Nothing is written.\n";
  return out + fmt::format("{}: {}, written in {:.2f} s\n", Printable(r.output, 400),
                           BytesText(static_cast<double>(r.output_bytes)), r.seconds);
}

std::string ToText(const Run& r) {
  std::string out = fmt::format("{} for {} on {}\nProgram: {}\n", Printable(r.model, 400),
                                TargetText(r.target), r.device, r.program);
  out += "Inputs:\n";
  for (const Tensor& t : r.inputs) out += TensorLine(t);
  out += "Outputs:\n";
  for (const Tensor& t : r.outputs) out += TensorLine(t);
  out += fmt::format("Latency: {} ({}); wall {}\n", Ms(r.latency_ms), target::KindName(r.kind),
                     FigureText(r.wall_ms));
  if (r.energy_mj) out += fmt::format("Energy: {}\n", FigureText(*r.energy_mj));
  out +=
      fmt::format("Compile {}, load {}; {} copies, {}\n", FigureText(r.compile_ms),
                  FigureText(r.load_ms), r.copies, BytesText(static_cast<double>(r.bytes_copied)));
  if (r.plan_cache) out += PlanCacheLine(*r.plan_cache);
  return out + ComputeUnitsLine(r.compute_units) + "\n";
}

std::string ToText(const Bench& r) {
  std::string out =
      fmt::format("{} for {} on {}\nProgram: {}; {} threads, {} at once, {} iterations\n",
                  Printable(r.model, 400), TargetText(r.target), r.device_description, r.program,
                  r.threads, r.concurrency, r.iterations);
  Table latency({"", ">p50", ">p90", ">p95", ">p99", ">min", ">max", ">mean", ">std"});
  const auto add = [&](const std::string& name, const Latency& l) {
    latency.Add({name, Ms(l.p50), Ms(l.p90), Ms(l.p95), Ms(l.p99), Ms(l.min), Ms(l.max), Ms(l.mean),
                 Ms(l.std)});
  };
  add(fmt::format("latency ({})", target::KindName(r.kind)), r.latency_ms);
  if (r.kind != target::Kind::kMeasured) add("wall (measured)", r.wall_ms);
  out += latency.ToText();
  out += fmt::format("Throughput: {:.2f}/s ({}); first inference {}\n", r.throughput_per_s,
                     target::KindName(r.kind), Ms(r.first_inference_ms));
  out += fmt::format("Load {}, compile {}\n", FigureText(r.load_ms), FigureText(r.compile_ms));
  out += fmt::format("Memory: resident {} idle, {} at most; arena {}, weights {}\n",
                     FigureText(r.idle_rss_bytes), FigureText(r.peak_rss_bytes),
                     BytesText(static_cast<double>(r.arena_bytes)),
                     BytesText(static_cast<double>(r.weights_bytes)));
  out += fmt::format("Copies per run: {:.4g}, {}\n", r.copies_per_run,
                     BytesText(r.bytes_copied_per_run));
  if (r.plan_cache) out += PlanCacheLine(*r.plan_cache);
  if (r.energy_mj) out += fmt::format("Energy per run: {}\n", FigureText(*r.energy_mj));
  if (r.power_mw) out += fmt::format("Power: {}\n", FigureText(*r.power_mw));
  if (r.npu_utilisation) {
    out += fmt::format("NPU: {:.1f}% of its peak multiply-adds, busy {:.1f}% of the time ({})\n",
                       100 * r.npu_utilisation->value, r.npu_busy ? 100 * r.npu_busy->value : 0,
                       target::KindName(r.npu_utilisation->kind));
  }
  if (!r.steps.empty()) {
    Table steps({">segment", "device", ">time", ">energy"});
    for (const BenchStep& s : r.steps) {
      steps.Add({std::to_string(s.segment), s.device, FigureText(s.ms),
                 s.energy_mj ? FigureText(*s.energy_mj) : "-"});
    }
    out += steps.ToText("  ");
  }
  if (!r.ops.empty()) out += OpsText(r.ops);
  if (r.roofline) out += RooflineText(*r.roofline);
  if (!r.void_reason.empty()) out += fmt::format("Not usable: {}\n", r.void_reason);
  return out + ComputeUnitsLine(r.compute_units) + "\n";
}

std::string ToText(const Info& r) {
  std::string out = fmt::format("{}: {}, {}\n", Printable(r.file, 400), r.format,
                                BytesText(static_cast<double>(r.bytes)));
  if (!r.name.empty()) out += fmt::format("Name: {}\n", Printable(r.name));
  if (!r.sha256.empty())
    out += fmt::format("{}: {}\n", r.target ? "Made from sha256" : "sha256", r.sha256);
  const auto specs = [&](const char* title, const std::vector<format::ValueSpec>& list) {
    out += fmt::format("{}:\n", title);
    for (const format::ValueSpec& s : list)
      out += fmt::format("  {}  {}\n", Printable(s.name), Printable(s.type.ToString()));
  };
  specs("Inputs", r.inputs);
  specs("Outputs", r.outputs);
  if (!r.target) {
    std::vector<std::pair<std::string, int>> ops(r.ops.begin(), r.ops.end());
    std::stable_sort(ops.begin(), ops.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    Table table({"operator", ">nodes"});
    for (const auto& [name, count] : ops) table.Add({Printable(name), std::to_string(count)});
    out += fmt::format("Nodes: {}\n{}", r.nodes, table.ToText("  "));
  }
  for (const auto& [key, value] : r.metadata)
    out += fmt::format("{}: {}\n", Printable(key, 60), Printable(value, 100));
  out += fmt::format("Weights: {}\n", BytesText(static_cast<double>(r.weights_bytes)));
  if (r.target) {
    out += fmt::format("Compiled for {} by {}; schema version {}\n", TargetText(*r.target),
                       Printable(r.tool_version), r.schema_version);
    out += ProgramTable(r.programs).ToText("  ");
    out += fmt::format("{} shared between programs, {} of their own; {} segments\n",
                       BytesText(static_cast<double>(r.shared_bytes)),
                       BytesText(static_cast<double>(r.own_bytes)), r.segments);
    if (!r.programs.empty()) out += ComputeUnitsLine(r.programs.front().compute_units) + "\n";
    if (r.verified) out += "Every segment has the checksum the head says.\n";
  }
  return out;
}

std::string ToText(const Targets& r) {
  Table table({"target", "NPU", ">facts", ">assumed", "file"});
  for (const TargetLine& t : r.targets) {
    table.Add({t.name, t.npu.empty() ? "none" : Printable(t.npu), std::to_string(t.facts),
               std::to_string(t.assumed),
               t.file.empty() ? "(this machine)" : Printable(t.file, 400)});
  }
  return table.ToText();
}

std::string ToText(const TargetShow& r) {
  std::string out = fmt::format("{}  {}\n", TargetText(r.target), Printable(r.file, 400));
  Table table({"fact", ">value", "unit", "kind", "date", "source"});
  for (const FactLine& f : r.target.facts) {
    table.Add({f.key, FactText(f.value), f.unit, f.source, f.date, Printable(f.ref, 400)});
  }
  return out + table.ToText("  ");
}

}  // namespace npukit::report
