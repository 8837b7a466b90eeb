#include <algorithm>

#include "base/text.h"
#include "lab/explain.h"

namespace npukit::lab {
namespace {

using target::Cause;

constexpr std::size_t kMostNodes = 5;

// What is taken away, as an owner of the model would say it.
std::string_view Change(Cause c) {
  switch (c) {
    case Cause::kDispatch:
      return "starting tasks and calls costs nothing";
    case Cause::kWeightStreaming:
      return "weights are on the chip already";
    case Cause::kShapeUnderfill:
      return "every shape fills the cube's block";
    case Cause::kVectorBound:
      return "the vector unit costs nothing";
    case Cause::kLayout:
      return "layout and type never change";
    case Cause::kBoundary:
      return "tensors cross between devices for nothing";
    case Cause::kCpuIslands:
      return "operators on the CPU cost nothing (their hand-overs stay)";
  }
  return "";
}

// What each task, and each segment beside its tasks, takes.
struct Payer {
  std::string name;
  double ns = 0;
};
std::vector<Payer> Payers(const Pricer& pricer, const std::vector<target::Account>& accounts) {
  std::vector<Payer> payers;
  for (std::size_t i = 0; i < accounts.size(); ++i) {
    double tasks_ns = 0;
    for (const target::TaskAccount& t : accounts[i].tasks) {
      payers.push_back({t.name, t.estimate.time_ns});
      tasks_ns += t.estimate.time_ns;
    }
    const std::string& device = pricer.segments()[i].device_class;
    payers.push_back({Cat("(call of segment ", i, " on the ", device, ")"), accounts[i].fixed_ns});
    payers.push_back({Cat("(hand-overs of segment ", i, ")"), accounts[i].boundary_ns});
  }
  return payers;
}

// Those whose time fell most, or that take most when `after` is empty.
std::vector<std::pair<std::string, double>> MostOf(const std::vector<Payer>& before,
                                                   const std::vector<Payer>& after) {
  std::vector<std::pair<std::string, double>> drops;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const double drop = before[i].ns - (after.empty() ? 0 : after[i].ns);
    if (drop > 0) drops.emplace_back(before[i].name, drop / 1e6);
  }
  std::stable_sort(drops.begin(), drops.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  if (drops.size() > kMostNodes) drops.resize(kMostNodes);
  return drops;
}

// The model is monotone, but its sums are rounded.
Status CheckDrop(double drop_ns, double total_ns, std::string_view cause) {
  if (drop_ns >= -1e-9 * total_ns) return OkStatus();
  return Internal(Cat("the device's model is not monotone: without ", cause, " it takes ",
                      -drop_ns / 1e6, " ms more; please report it"));
}

}  // namespace

Status FillCauses(const Subject& s, report::Explain& r) {
  target::Relief relief;
  NPUKIT_ASSIGN_OR_RETURN(std::vector<target::Account> accounts,
                          s.pricer.Accounts(s.profile, relief, false));
  const Cost total = Sum(accounts);
  std::vector<Payer> payers = Payers(s.pricer, accounts);
  double left_ns = total.time_ns;
  const auto share = [&](double ns) { return total.time_ns > 0 ? ns / total.time_ns : 0; };
  for (int c = 0; c < target::kCauseCount; ++c) {
    const auto cause = static_cast<Cause>(c);
    const std::string code(target::CauseName(cause));
    relief = relief.With(cause);
    NPUKIT_ASSIGN_OR_RETURN(accounts, s.pricer.Accounts(s.profile, relief, false));
    std::vector<Payer> after = Payers(s.pricer, accounts);
    if (after.size() != payers.size())
      return Internal(Cat("the device's model lists other tasks without ", code));
    NPUKIT_RETURN_IF_ERROR(CheckDrop(left_ns - Sum(accounts).time_ns, total.time_ns, code));
    const double now_ns = std::min(Sum(accounts).time_ns, left_ns);
    const double drop_ns = left_ns - now_ns;
    r.causes.push_back({code, drop_ns / 1e6, total.kind, share(drop_ns), MostOf(payers, after)});
    left_ns = now_ns;
    payers = std::move(after);
  }
  r.remainder = "hardware_bound";
  r.causes.push_back({r.remainder, left_ns / 1e6, total.kind, share(left_ns), MostOf(payers, {})});

  for (int c = 0; c < target::kCauseCount; ++c) {
    const auto cause = static_cast<Cause>(c);
    NPUKIT_ASSIGN_OR_RETURN(const Cost without,
                            s.pricer.Price(s.profile, target::Relief().With(cause)));
    const double drop_ns = total.time_ns - without.time_ns;
    const std::string code(target::CauseName(cause));
    NPUKIT_RETURN_IF_ERROR(CheckDrop(drop_ns, total.time_ns, code));
    r.what_if.push_back(
        {std::string(Change(cause)), code, std::max(0.0, drop_ns) / 1e6, total.kind, {}});
  }
  return OkStatus();
}

}  // namespace npukit::lab
