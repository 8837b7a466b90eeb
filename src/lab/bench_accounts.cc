#include "lab/bench_accounts.h"

#include <algorithm>

#include "base/text.h"

namespace npukit::lab {
namespace {

double DramBytes(const target::Estimate& e) {
  double bytes = 0;
  for (const auto& [memory, n] : e.bytes) {
    if (memory.starts_with("dram")) bytes += n;
  }
  return bytes;
}

}  // namespace

bool UsesNpu(const format::Program& p) {
  return std::find(p.segment_devices.begin(), p.segment_devices.end(), "NPU") !=
         p.segment_devices.end();
}

Cost& operator+=(Cost& a, const Cost& b) {
  a.time_ns += b.time_ns;
  a.energy_pj += b.energy_pj;
  a.macs += b.macs;
  a.kind = std::min(a.kind, b.kind);
  return a;
}

Cost Sum(const std::vector<target::Account>& accounts) {
  Cost sum;
  for (const target::Account& a : accounts) {
    sum += Cost{a.total.time_ns, a.total.total_energy_pj(), a.total.macs, a.total.kind};
  }
  return sum;
}

Result<Pricer> Pricer::Make(const Kit& kit, std::shared_ptr<const format::Package> package,
                            std::uint32_t program) {
  Pricer p;
  p.package_ = std::move(package);
  p.index_ = program;
  const format::Program& prog = p.program();
  for (const format::Step& step : prog.blocks[0].steps) {
    if (step.kind != format::StepKind::kCall) continue;  // a copy takes no time by a model's clock
    const format::ExecutableInfo& e = prog.executables[step.executable];
    const auto lowering = std::find_if(kit.lowerings.begin(), kit.lowerings.end(),
                                       [&](const auto& l) { return l->device() == e.device; });
    if (lowering == kit.lowerings.end())
      return Unsupported(Cat("device ", Printable(e.device), " has no model in this build"));
    Segment s;
    s.device_class = (*lowering)->device_class();
    s.lowering = *lowering;
    NPUKIT_ASSIGN_OR_RETURN(s.blob, p.package_->Blob(e.blob_segment));
    p.segments_.push_back(std::move(s));
  }
  return p;
}

Result<std::vector<target::Account>> Pricer::Accounts(const target::Profile& profile,
                                                      target::Relief relief, bool spans) const {
  std::vector<target::Account> accounts;
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    auto a = segments_[i].lowering->AccountOf(segments_[i].blob, profile, relief, spans);
    if (!a.ok()) return a.status().WithContext(Cat("segment ", i));
    accounts.push_back(std::move(*a));
  }
  return accounts;
}

Result<Cost> Pricer::Price(const target::Profile& profile, target::Relief relief) const {
  NPUKIT_ASSIGN_OR_RETURN(const std::vector<target::Account> accounts,
                          Accounts(profile, relief, false));
  return Sum(accounts);
}

Result<Cost> Pricer::PriceClass(const target::Profile& profile,
                                const std::string& device_class) const {
  std::vector<target::Account> accounts;
  for (const Segment& s : segments_) {
    if (!device_class.empty() && s.device_class != device_class) continue;
    NPUKIT_ASSIGN_OR_RETURN(target::Account a, s.lowering->AccountOf(s.blob, profile, {}, false));
    accounts.push_back(std::move(a));
  }
  return Sum(accounts);
}

std::vector<report::OpRow> OpRows(const Pricer& pricer,
                                  const std::vector<target::Account>& accounts) {
  const double total_ns = Sum(accounts).time_ns;
  std::vector<report::OpRow> rows;
  double segment_start_ns = 0;
  for (std::size_t i = 0; i < accounts.size(); ++i) {
    for (const target::TaskAccount& t : accounts[i].tasks) {
      report::OpRow row;
      row.name = t.name;
      row.kind = t.kind;
      row.device = pricer.segments()[i].device_class;
      row.segment = static_cast<int>(i);
      row.start_ms = (segment_start_ns + t.start_ns) / 1e6;
      row.ms = t.estimate.time_ns / 1e6;
      row.share = total_ns > 0 ? t.estimate.time_ns / total_ns : 0;
      row.bound_ms = t.bound_ns / 1e6;
      row.utilisation = t.utilisation;
      row.macs = t.estimate.macs;
      row.dram_bytes = DramBytes(t.estimate);
      row.energy_mj = t.estimate.total_energy_pj() / 1e9;
      rows.push_back(std::move(row));
    }
    segment_start_ns += accounts[i].total.time_ns;
  }
  return rows;
}

std::vector<target::Span> Timeline(const std::vector<target::Account>& accounts) {
  std::vector<target::Span> spans;
  double start_ns = 0;
  std::size_t first_task = 0;
  for (const target::Account& a : accounts) {
    for (target::Span s : a.spans) {
      s.start_ns += start_ns;
      s.task += static_cast<std::uint32_t>(first_task);
      spans.push_back(std::move(s));
    }
    start_ns += a.total.time_ns;
    first_task += a.tasks.size();
  }
  return spans;
}

double PeakNs(const Pricer& pricer, const std::vector<target::Account>& accounts,
              const std::string& device_class) {
  double ns = 0;
  for (std::size_t i = 0; i < accounts.size(); ++i) {
    if (pricer.segments()[i].device_class != device_class) continue;
    for (const target::TaskAccount& t : accounts[i].tasks) ns += t.utilisation * t.estimate.time_ns;
  }
  return ns;
}

}  // namespace npukit::lab
