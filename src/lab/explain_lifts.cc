// Operators that a limit of the chip keeps off the NPU: what if the limit were as wide as they
// need?
#include <algorithm>
#include <cstdlib>
#include <map>

#include "base/text.h"
#include "lab/explain.h"

namespace npukit::lab {
namespace {

constexpr std::size_t kMostLifts = 6;  // each compiles the model once

std::optional<double> Number(const std::string& text) {
  if (text.empty()) return std::nullopt;
  char* end = nullptr;
  const double d = std::strtod(text.c_str(), &end);
  if (*end != '\0') return std::nullopt;
  return d;
}

// What the fact would have to be for this operator; nothing when no value of it would do.
std::optional<double> Needed(const target::Verdict& v) {
  const target::FactDef* def = target::FindFactDef(v.fact);
  if (v.supported || v.placed_on == "NPU" || def == nullptr ||
      def->kind != target::FactKind::kNumber)
    return std::nullopt;
  if (v.fact.ends_with(".supported")) return 1;
  const auto found = Number(v.found);
  if (!found || *found < def->min || *found > def->max) return std::nullopt;
  return found;
}

}  // namespace

Status FillLifts(const Kit& kit, const ModelOptions& options, report::Explain& r) {
  std::map<std::string, double> needed;  // by fact: the most that any operator needs
  for (const target::Verdict& v : r.verdicts) {
    if (const auto need = Needed(v)) {
      const auto [it, added] = needed.try_emplace(v.fact, *need);
      if (!added) it->second = std::max(it->second, *need);
    }
  }
  std::size_t done = 0;
  for (const auto& [fact, value] : needed) {
    if (done == kMostLifts) {
      r.notes.push_back(Cat(needed.size() - done, " more limits keep operators off the NPU; ",
                            "only the first ", kMostLifts, " were tried"));
      break;
    }
    if (kit.progress) {
      kit.progress(Cat("what if ", fact, " were ", value), static_cast<int>(done),
                   static_cast<int>(needed.size()));
    }
    ++done;
    ModelOptions lifted = options;
    NPUKIT_RETURN_IF_ERROR(lifted.profile.Set(fact, Cat(value)).WithContext("what if"));
    const auto model = OpenModel(kit, lifted);
    if (!model.ok()) {
      r.notes.push_back(Cat("what if ", fact, " were ", value, ": ", model.status().message()));
      continue;
    }
    NPUKIT_ASSIGN_OR_RETURN(const Pricer pricer, Pricer::Make(kit, model->package, 0));
    NPUKIT_ASSIGN_OR_RETURN(const Cost cost, pricer.Price(lifted.profile, {}));
    report::WhatIf w;
    w.change = Cat(fact, " = ", value);
    w.saves_ms = r.total_ms - cost.ms();
    w.kind = cost.kind;
    for (const target::Verdict& before : r.verdicts) {
      if (before.supported || before.fact != fact) continue;
      for (const target::Verdict& after : pricer.program().verdicts) {
        if (after.from == before.from && after.op == before.op) {
          w.new_verdicts.push_back(after);
          break;
        }
      }
    }
    r.what_if.push_back(std::move(w));
  }
  return OkStatus();
}

}  // namespace npukit::lab
