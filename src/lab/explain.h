// The parts of `explain` that answer one question each; explain.cc puts them together.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/bench_accounts.h"
#include "lab/open.h"
#include "report/records.h"

namespace npukit::lab {

// What is explained, and what it is weighed against.
struct Subject {
  Pricer pricer;              // of the program explained
  target::Profile profile;    // --set applied
  std::optional<Pricer> cpu;  // the CPU-only program for the same inputs
};

// kInternal: a model that breaks its promise, since taking something away never adds time.
Status FillCauses(const Subject& s, report::Explain& r);

// What lifting a limit of the chip would give: the model is compiled again with the fact raised to
// what was found. Only for a model file.
// `options.device` says how it was compiled.
Status FillLifts(const Kit& kit, const ModelOptions& options, report::Explain& r);

// An assumed fact that is one number.
struct AssumedFact {
  std::string key;
  double value = 0;
  const target::FactDef* def = nullptr;
};

// Which assumed facts, at which value, turn "yes" into "no" or back, and which never do. Prices are
// asked again; for facts that a program is compiled for (NeedsCompiling) the model is compiled
// again, unless what is explained is a package.
Status FillSensitivity(const Kit& kit, const ModelOptions& options, bool is_package,
                       const Subject& s, report::Explain& r);

// A limit of an operator, a size of a buffer: another value is another program.
bool NeedsCompiling(std::string_view key);
Status FillRecompiled(const Kit& kit, const ModelOptions& options, const Subject& s,
                      const std::vector<AssumedFact>& facts, report::Explain& r);

// "yes" when the first is less than the second.
std::string YesWhenLess(double npu, double cpu);

}  // namespace npukit::lab
