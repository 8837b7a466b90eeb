#include <fmt/format.h>

#include "base/text.h"
#include "report/print.h"
#include "report/table.h"
#include "report/words.h"

namespace npukit::report {
namespace {

// Enough digits to tell 0.99999 from 1.
std::string CosineText(const Closeness& c) {
  if (c.mismatched > 0) return fmt::format("{} not finite", c.mismatched);
  if (!c.snr_db) return "exact";
  return fmt::format("{:.7f}", c.cosine);
}
std::string SnrText(const Closeness& c) {
  return c.snr_db ? fmt::format("{:.1f} dB", *c.snr_db) : "-";
}

}  // namespace

std::string ToText(const Compare& r) {
  std::string out =
      fmt::format("{} for {} on {}\nProgram: {}\nReference: {}\n", Printable(r.model, 400),
                  TargetText(r.target), r.device, r.program, Printable(r.reference, 600));
  for (const std::string& n : r.notes) out += fmt::format("Note: {}\n", Printable(n, 400));
  Table outputs({"output", ">max abs", ">cosine", ">SNR", ""});
  for (const CompareOutput& o : r.outputs) {
    outputs.Add({Printable(o.name), fmt::format("{:.3g}", o.closeness.max_abs),
                 CosineText(o.closeness), SnrText(o.closeness),
                 o.within ? "" : fmt::format("below {:.6g}", r.min_cosine)});
  }
  out += fmt::format("\n{}", outputs.ToText("  "));
  if (!r.layers.empty()) {
    Table layers(
        {"layer", "operator", "on", ">entire cosine", ">SNR", ">single cosine", ">SNR", ""});
    for (std::size_t i = 0; i < r.layers.size(); ++i) {
      const CompareLayer& l = r.layers[i];
      std::string mark;
      if (!l.single_within || !l.entire_within)
        mark = !l.single_within ? "single is below" : "entire is below";
      if (r.first_divergence && r.first_divergence->layer == i) mark = "<-- first: " + mark;
      layers.Add({Printable(l.node, 48), l.op, l.device, CosineText(l.entire), SnrText(l.entire),
                  CosineText(l.single), SnrText(l.single), mark});
    }
    out += fmt::format(
        "\nLayers in order of running; entire: error from the network's input on; single: this "
        "layer alone:\n{}",
        layers.ToText("  "));
    if (r.first_divergence) {
      const Divergence& d = *r.first_divergence;
      out += fmt::format("First divergence: {}, whose {} cosine {:.6g} is the first below {:.6g}\n",
                         Printable(d.node), d.column, d.cosine, r.min_cosine);
    } else {
      out += fmt::format("No layer falls below a cosine of {:.6g}.\n", r.min_cosine);
    }
  }
  return out + ComputeUnitsLine(r.compute_units) + "\n";
}

}  // namespace npukit::report
