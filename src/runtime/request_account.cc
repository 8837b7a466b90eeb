// What a completed run took, where, and by which clock.
#include <algorithm>

#include "base/env.h"
#include "runtime/request_impl.h"

namespace npukit::runtime {

void Request::Impl::AdvanceVirtualNow(std::int64_t end_ns) {
  if (!session->virtual_clock) return;
  std::int64_t now = session->virtual_now_ns.load();
  while (now < end_ns && !session->virtual_now_ns.compare_exchange_weak(now, end_ns)) {
  }
}

void Request::Impl::FillAccount() {
  account.kind = session->virtual_clock ? target::Kind::kModelled : target::Kind::kMeasured;
  bool one_clock = true;
  double energy = 0;
  bool energy_known = !fences.empty();
  std::int64_t end_ns = arrival_ns;
  double sum_ns = 0;
  for (std::size_t i = 0; i < fences.size(); ++i) {
    const PlanStep& step = plan->steps()[i];
    const bool call = step.kind == format::StepKind::kCall;
    const hal::Timing t = fences[i]->timing();
    StepAccount s;
    s.device = call ? session->devices[step.device]->info().description : "copy on the host";
    s.device_class = call ? session->devices[step.device]->info().device_class : "CPU";
    s.start_ns = t.start_ns - arrival_ns;
    s.end_ns = t.end_ns - arrival_ns;
    s.kind = t.kind;
    s.energy_pj = t.energy_pj;
    // Asked for after the start, nothing was kept.
    if (call && profile && i < step_ns.size() && !step_ns[i].empty()) {
      const std::vector<hal::StepInfo> infos = step.executable->steps();
      for (std::size_t k = 0; k < std::min(infos.size(), step_ns[i].size()); ++k)
        s.parts.push_back({infos[k], step_ns[i][k]});
    }
    if (t.kind != account.kind) one_clock = false;
    end_ns = std::max(end_ns, t.end_ns);
    sum_ns += static_cast<double>(t.end_ns - t.start_ns);
    if (call) {
      energy_known = energy_known && t.energy_pj.has_value();
      energy += t.energy_pj.value_or(0);
    }
    account.steps.push_back(std::move(s));
  }
  if (one_clock) {
    account.latency_ns = static_cast<double>(end_ns - arrival_ns);
  } else {
    // Steps by different clocks have no common axis: their lengths add up, and the sum is of the
    // weakest kind.
    account.latency_ns = sum_ns;
    for (const StepAccount& s : account.steps) account.kind = std::min(account.kind, s.kind);
  }
  if (energy_known) account.energy_pj = energy;
  if (one_clock) AdvanceVirtualNow(end_ns);
  account.wall_ns = static_cast<double>(RealEnv().NowNs() - submitted_ns);
}

void Request::Impl::FillAccountOfSteps() {
  account.kind = session->virtual_clock ? target::Kind::kModelled : target::Kind::kMeasured;
  for (const StepRunner::Done& d : runner->done()) {
    StepAccount s;
    s.device = session->devices[d.device]->info().description;
    s.device_class = session->devices[d.device]->info().device_class;
    s.start_ns = d.timing.start_ns - arrival_ns;
    s.end_ns = d.timing.end_ns - arrival_ns;
    s.kind = d.timing.kind;
    s.energy_pj = d.timing.energy_pj;
    account.kind = std::min(account.kind, d.timing.kind);
    account.steps.push_back(std::move(s));
  }
  account.copies += runner->copies();
  account.bytes_copied += runner->bytes_copied();
  account.wall_ns = static_cast<double>(RealEnv().NowNs() - submitted_ns);
  const std::int64_t end_ns = std::max(arrival_ns, runner->end_ns());
  account.latency_ns =
      session->virtual_clock ? static_cast<double>(end_ns - arrival_ns) : account.wall_ns;
  if (runner->energy_known() && !runner->done().empty()) account.energy_pj = runner->energy_pj();
  for (const hal::DevicePtr& d : session->devices) {
    const hal::Telemetry t = d->Sample();
    account.plan_cache.plans += t.plans;
    account.plan_cache.hits += t.plan_hits;
    account.plan_cache.misses += t.plan_misses;
    account.plan_cache.max_plans = std::max(account.plan_cache.max_plans, t.max_plans);
  }
  AdvanceVirtualNow(end_ns);
}

}  // namespace npukit::runtime
