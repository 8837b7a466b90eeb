#include "lab/validate.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"
#include "compile/tasks/tasks.h"
#include "lab/describe.h"
#include "lab/fit.h"
#include "passes/pass.h"
#include "profile_io/published.h"

namespace npukit::lab {
namespace {

constexpr double kGoalMean = 0.12;
constexpr double kGoalWorst = 0.35;

// What nobody published: the two constants of host and runtime. Ranges from nothing to ten times
// what any source names for them (24 us per layer, 0.7 ms per inference).
struct FreeFact {
  std::string_view fact;
  Range range;
};
constexpr std::array kFree = {FreeFact{"npu.inference_fixed_us", {0, 7000}},
                              FreeFact{"npu.dispatch_us", {0, 240}}};
static_assert(kFree.size() <= kMaxFreeParameters);

struct Network {
  profile_io::PublishedNetwork published;
  double tasks = 0;
  double work_us = 0;  // without dispatch
  double macs = 0, dram_bytes = 0;

  double PredictMs(std::span<const double> free) const {
    return (free[0] + free[1] * tasks + work_us) / 1e3;
  }
};

// The graph as the file has it: constants worked out, dead nodes gone, nothing rewritten.
Status FoldOnly(ir::Graph& g, const target::Profile& profile) {
  passes::RunOptions options;
  for (const passes::PassDef& pass : passes::AllPasses()) {
    if (pass.name != "fold_constants" && pass.name != "remove_dead")
      options.skip.emplace_back(pass.name);
  }
  return passes::RunPasses(g, profile, options, nullptr);
}

Result<Network> ReadNetwork(const Kit& kit, const ValidateOptions& options,
                            const compile::StackRates& rates,
                            const profile_io::PublishedNetwork& published) {
  Network n;
  n.published = published;
  NPUKIT_ASSIGN_OR_RETURN(
      importers::Imported imported,
      importers::ImportFile(*kit.env, options.data_folder + "/" + published.file, {}));
  NPUKIT_RETURN_IF_ERROR(FoldOnly(imported.graph, options.profile));
  NPUKIT_ASSIGN_OR_RETURN(const std::vector<compile::StackTask> tasks,
                          compile::StackTasks(imported.graph, options.profile));
  n.tasks = static_cast<double>(tasks.size());
  for (const compile::StackTask& t : tasks) {
    n.work_us += compile::TimeOf(t, rates).ns() / 1e3;
    n.macs += t.macs;
    n.dram_bytes += t.read_bytes + t.weight_bytes + t.written_bytes;
  }
  return n;
}

// A fact that is fitted has no value that --set could change.
Status RefuseFitted(const target::Profile& profile) {
  for (const FreeFact& free : kFree) {
    const std::string prefix = Cat(free.fact, "=");
    for (const std::string& set : profile.overrides) {
      if (set.starts_with(prefix))
        return InvalidArgument(Cat("--set: ", free.fact, " is fitted here, so it cannot be set"));
    }
  }
  return OkStatus();
}

// The parameters with the least mean absolute error over all networks but `left_out`.
std::vector<double> Fit(const std::vector<Network>& networks, std::size_t left_out) {
  std::array<Range, kFree.size()> box;
  for (std::size_t i = 0; i < kFree.size(); ++i) box[i] = kFree[i].range;
  return MinimiseInBox(box, [&](std::span<const double> free) {
    double sum = 0;
    for (std::size_t i = 0; i < networks.size(); ++i) {
      if (i == left_out) continue;
      const double published = networks[i].published.published_ms;
      sum += std::abs(networks[i].PredictMs(free) - published) / published;
    }
    return sum;
  });
}

}  // namespace

Result<report::Validation> Validate(const Kit& kit, const ValidateOptions& options) {
  const std::int64_t start = kit.env->NowNs();
  NPUKIT_RETURN_IF_ERROR(RefuseFitted(options.profile));
  const std::string path = options.data_folder + "/table.json";
  NPUKIT_ASSIGN_OR_RETURN(const profile_io::PublishedTable table,
                          profile_io::LoadPublishedTable(*kit.env, path));
  if (table.table != options.table) {
    return InvalidArgument(Cat(Printable(path, 300), ": holds table \"", Printable(table.table),
                               "\", not \"", Printable(options.table), "\""));
  }
  if (table.networks.size() < kFree.size() + 2) {
    return InvalidArgument(Cat(Printable(path, 300), ": ", table.networks.size(),
                               " networks are too few to fit ", kFree.size(),
                               " parameters on all but one; expected at least ", kFree.size() + 2));
  }
  NPUKIT_ASSIGN_OR_RETURN(const compile::StackRates rates,
                          compile::ReadStackRates(options.profile));
  std::vector<Network> networks;
  for (const profile_io::PublishedNetwork& p : table.networks) {
    if (kit.progress) {
      kit.progress(Cat("tasks of ", p.name), static_cast<int>(networks.size()),
                   static_cast<int>(table.networks.size()));
    }
    auto n = ReadNetwork(kit, options, rates, p);
    if (!n.ok()) return n.status().WithContext(Printable(p.file, 200));
    networks.push_back(std::move(n).value());
  }

  report::Validation r;
  r.table = table.table;
  r.title = table.title;
  r.source = table.source;
  r.date = table.date;
  r.target = TargetOf(options.profile);
  r.goal_mean = kGoalMean;
  r.goal_worst = kGoalWorst;
  const std::vector<double> all = Fit(networks, networks.size());
  for (std::size_t i = 0; i < kFree.size(); ++i) {
    const target::FactDef* def = target::FindFactDef(kFree[i].fact);
    r.fitted.push_back({std::string(kFree[i].fact), def ? std::string(def->unit) : "",
                        kFree[i].range.least, kFree[i].range.most, all[i], all[i], all[i]});
  }
  for (std::size_t i = 0; i < networks.size(); ++i) {
    if (kit.progress)
      kit.progress("fitting", static_cast<int>(i), static_cast<int>(networks.size()));
    const std::vector<double> fold = Fit(networks, i);
    for (std::size_t k = 0; k < kFree.size(); ++k) {
      r.fitted[k].fold_least = std::min(r.fitted[k].fold_least, fold[k]);
      r.fitted[k].fold_most = std::max(r.fitted[k].fold_most, fold[k]);
    }
    const Network& n = networks[i];
    report::ValidatedNetwork v;
    v.name = n.published.name;
    v.file = n.published.file;
    v.model = n.published.model;
    v.tasks = static_cast<std::uint64_t>(n.tasks);
    v.gmacs = n.macs / 1e9;
    v.dram_mbytes = n.dram_bytes / 1e6;
    v.work_ms = n.work_us / 1e3;
    v.predicted_ms = n.PredictMs(fold);
    v.published_ms = n.published.published_ms;
    r.networks.push_back(std::move(v));
  }
  r.seconds = static_cast<double>(kit.env->NowNs() - start) / 1e9;
  return r;
}

}  // namespace npukit::lab
