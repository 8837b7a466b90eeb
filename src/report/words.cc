#include "report/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "report/print.h"
#include "report/table.h"

namespace npukit::report {

std::string TargetText(const Target& t) {
  std::string text = t.name;
  for (const std::string& s : t.set) text += fmt::format("  --set {}", Printable(s));
  return text;
}

std::string Ms(double ms) { return fmt::format("{:.{}f} ms", ms, ms < 1 ? 4 : ms < 100 ? 2 : 1); }

std::string Percent(double share) { return fmt::format("{:.1f}%", 100 * share); }

std::string Names(const std::vector<std::string>& names, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < most; ++i)
    text += fmt::format("{}{}", i ? "+" : "", Printable(names[i], 40));
  if (names.size() > most) text += fmt::format("+{} more", names.size() - most);
  return text;
}

std::string OperatorName(const target::Verdict& v) {
  return v.op.empty() ? Printable(v.foreign_op) : v.op;
}

std::string Bar(double share, int width) {
  const double length = std::clamp(share, 0.0, 1.0) * width;
  return std::string(static_cast<std::size_t>(length > 0 ? std::max(1.0, std::round(length)) : 0),
                     '#');
}

std::string OpsText(const std::vector<OpRow>& ops) {
  Table table({"task", "kind", "device", ">time", ">share", ">of peak", ">bound", ">DRAM"});
  for (const OpRow& o : ops) {
    table.Add({Printable(o.name, 60), o.kind, o.device, Ms(o.ms), Percent(o.share),
               o.macs > 0 ? Percent(o.utilisation) : "-", Ms(o.bound_ms), BytesText(o.dram_bytes)});
  }
  return table.ToText("  ");
}

}  // namespace npukit::report
