// Most facts of a phone's NPU are assumed. Which of them decide the answer? Each is moved alone
// over its whole range; where the answer at an end is the other one, the value at which it turns is
// found by bisection. The blobs are priced again, so placement and tiling stay as they are; facts
// that a program is compiled for are explain_recompile.cc's.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <thread>

#include "base/text.h"
#include "base/thread_pool.h"
#include "lab/explain.h"
#include "target/consistent.h"

namespace npukit::lab {
namespace {

constexpr double kPrecision = 1e-3;  // relative, of flips_at
constexpr int kMostSteps = 60;

// Facts of the vendor's own stack and cache, which only `validate` counts with.
bool OnlyValidateReads(std::string_view key) {
  return key.starts_with("npu.stack.") || key.starts_with("npu.l2_") ||
         key.starts_with("npu.bw.l2_");
}

// What the NPU takes more than the CPU alone; it is the better one below zero.
struct Gaps {
  double latency_ns = 0, energy_pj = 0;
};

// The two programs on a profile in which one fact differs. A fact is read by the model of the
// device it begins with, so the other device's segments keep their price.
class Scale {
 public:
  explicit Scale(const Subject& s) : s_(s) {}

  Status Start() {
    for (const char* device : {"NPU", "CPU"}) {
      NPUKIT_ASSIGN_OR_RETURN(Of(device).npu_program, s_.pricer.PriceClass(s_.profile, device));
    }
    NPUKIT_ASSIGN_OR_RETURN(Of("CPU").cpu_program, s_.cpu->PriceClass(s_.profile, "CPU"));
    return OkStatus();
  }

  bool Allows(const std::string& fact, double value) const {
    return target::CheckConsistent(With(fact, value)).ok();
  }

  Gaps Now() const { return Weigh(npu_, cpu_); }

  Result<Gaps> At(const std::string& fact, double value, bool* changes) const {
    const target::Profile p = With(fact, value);
    Part npu = npu_, cpu = cpu_;
    if (fact.starts_with("npu.")) {
      NPUKIT_ASSIGN_OR_RETURN(npu.npu_program, s_.pricer.PriceClass(p, "NPU"));
    } else {
      NPUKIT_ASSIGN_OR_RETURN(cpu.npu_program, s_.pricer.PriceClass(p, "CPU"));
      NPUKIT_ASSIGN_OR_RETURN(cpu.cpu_program, s_.cpu->PriceClass(p, "CPU"));
    }
    *changes = !Same(npu.npu_program, npu_.npu_program) ||
               !Same(cpu.npu_program, cpu_.npu_program) || !Same(cpu.cpu_program, cpu_.cpu_program);
    return Weigh(npu, cpu);
  }

 private:
  struct Part {  // what segments of one device cost in either program
    Cost npu_program, cpu_program;
  };
  Part& Of(const std::string& device) { return device == "NPU" ? npu_ : cpu_; }

  target::Profile With(const std::string& fact, double value) const {
    target::Profile p = s_.profile;
    p.facts[fact].value = value;
    return p;
  }

  static bool Same(const Cost& a, const Cost& b) {
    return a.time_ns == b.time_ns && a.energy_pj == b.energy_pj;
  }
  static Gaps Weigh(const Part& npu, const Part& cpu) {
    const Cost& alone = cpu.cpu_program;
    return {npu.npu_program.time_ns + cpu.npu_program.time_ns - alone.time_ns,
            npu.npu_program.energy_pj + cpu.npu_program.energy_pj - alone.energy_pj};
  }

  const Subject& s_;
  Part npu_, cpu_;
};

// Values that a fact may have: counts are whole, bursts powers of two.
enum class Grid : std::uint8_t { kAny, kWhole, kPowerOfTwo };

Grid GridOf(const target::FactDef& def) {
  if (def.key == "npu.dram_burst_bytes") return Grid::kPowerOfTwo;
  return def.unit.empty() ? Grid::kWhole : Grid::kAny;
}

// The value that lies at `part` of the way from one to another; by factors where both are above
// zero.
double Between(double a, double b, double part, Grid grid) {
  const double x = a > 0 && b > 0 ? a * std::pow(b / a, part) : a + (b - a) * part;
  switch (grid) {
    case Grid::kAny:
      break;
    case Grid::kWhole:
      return std::round(x);
    case Grid::kPowerOfTwo:
      return std::exp2(std::round(std::log2(x)));
  }
  return x;
}

// How far from what is assumed, as a factor.
double Distance(const report::Sensitivity& s) {
  if (s.value <= 0 || s.flips_at <= 0) return std::numeric_limits<double>::infinity();
  return std::abs(std::log(s.flips_at / s.value));
}

class Search {
 public:
  Search(const Scale& scale, std::string fact, double value, const target::FactDef& def)
      : scale_(scale),
        fact_(std::move(fact)),
        value_(value),
        def_(def),
        grid_(GridOf(def)),
        now_(scale.Now()),
        lowest_(value),
        highest_(value) {}

  bool changes() const { return changes_; }
  double lowest() const { return lowest_; }
  double highest() const { return highest_; }

  // Towards one end of the range, or as far as the other facts allow.
  void Towards(double end, std::vector<report::Sensitivity>& found) {
    for (int i = 0; i < kMostSteps && !scale_.Allows(fact_, end); ++i)
      end = Between(value_, end, 0.5, grid_);
    if (end == value_) return;
    (end < value_ ? lowest_ : highest_) = end;
    Find(end, &Gaps::latency_ns, "latency", found);
    Find(end, &Gaps::energy_pj, "energy", found);
  }

 private:
  std::optional<Gaps> Ask(double value) {
    if (const auto it = asked_.find(value); it != asked_.end()) return it->second;
    bool changes = false;
    const auto gaps = scale_.At(fact_, value, &changes);
    changes_ = changes_ || changes;
    return asked_.try_emplace(value, gaps.ok() ? std::optional(*gaps) : std::nullopt).first->second;
  }

  // Regula falsi, the Illinois way, with every third step a bisection: where the answer turns, to
  // kPrecision. Nothing where it does not, or where a model refuses the value.
  void Find(double end, double Gaps::* gap, const char* conclusion,
            std::vector<report::Sensitivity>& found) {
    const double at_value = now_.*gap;
    const auto at_end = Ask(end);
    const bool now = at_value < 0;
    if (!at_end || ((*at_end).*gap < 0) == now) return;
    double same = value_, other = end;
    double same_gap = at_value, other_gap = (*at_end).*gap;
    for (int i = 0; i < kMostSteps; ++i) {
      if (std::abs(other - same) <= kPrecision * std::max(std::abs(other), std::abs(same))) break;
      const bool falsi = i % 3 != 2 && same_gap != other_gap;
      const double part = falsi ? same_gap / (same_gap - other_gap) : 0.5;
      double x = Between(same, other, part, grid_);
      if (x == same || x == other) x = Between(same, other, 0.5, grid_);
      if (x == same || x == other) break;
      const auto there = Ask(x);
      if (!there) return;
      const double x_gap = (*there).*gap;
      if ((x_gap < 0) == now) {
        same = x;
        same_gap = x_gap;
        other_gap /= 2;
      } else {
        other = x;
        other_gap = x_gap;
        same_gap /= 2;
      }
    }
    found.push_back({fact_, std::string(def_.unit), value_, other, conclusion, now ? "no" : "yes"});
  }

  const Scale& scale_;
  const std::string fact_;
  const double value_;
  const target::FactDef& def_;
  const Grid grid_;
  const Gaps now_;
  double lowest_, highest_;  // tried
  std::map<double, std::optional<Gaps>> asked_;
  bool changes_ = false;
};

struct Moved {
  AssumedFact fact;
  bool changes = false;
  double lowest = 0, highest = 0;
  std::vector<report::Sensitivity> found;
};

void MoveAll(const Kit& kit, const Scale& scale, std::vector<Moved>& all) {
  std::mutex mutex;  // of the progress
  int done = 0;
  ThreadPool pool(std::max(1, static_cast<int>(std::thread::hardware_concurrency())));
  pool.ParallelFor(all.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (Moved& m : std::span(all).subspan(begin, end - begin)) {
      if (kit.progress) {
        const std::lock_guard lock(mutex);
        kit.progress(Cat("moving assumed facts: ", m.fact.key), done++,
                     static_cast<int>(all.size()));
      }
      Search search(scale, m.fact.key, m.fact.value, *m.fact.def);
      search.Towards(m.fact.def->min, m.found);
      search.Towards(m.fact.def->max, m.found);
      m.changes = search.changes();
      m.lowest = search.lowest();
      m.highest = search.highest();
    }
  });
}

report::Insensitive Untried(const AssumedFact& f, std::string because) {
  return {f.key, std::string(f.def->unit), f.value, f.value, f.value, std::move(because)};
}

}  // namespace

Status FillSensitivity(const Kit& kit, const ModelOptions& options, bool is_package,
                       const Subject& s, report::Explain& r) {
  if (r.adopt.latency.empty()) return OkStatus();
  std::vector<Moved> priced;
  std::vector<AssumedFact> compiled;
  for (const auto& [key, fact] : s.profile.facts) {
    const target::FactDef* def = target::FindFactDef(key);
    const double* value = std::get_if<double>(&fact.value);
    if (fact.source != target::Source::kAssumed || def == nullptr || value == nullptr) continue;
    const AssumedFact assumed{key, *value, def};
    if (OnlyValidateReads(key)) {
      r.insensitive_to.push_back(Untried(assumed, "only validate reads it"));
    } else if (!NeedsCompiling(key)) {
      priced.push_back({assumed, false, 0, 0, {}});
    } else if (is_package) {
      r.insensitive_to.push_back(
          Untried(assumed, "not tried: a package holds no model to compile again"));
    } else {
      compiled.push_back(assumed);
    }
  }
  if (s.cpu) {
    Scale scale(s);
    NPUKIT_RETURN_IF_ERROR(scale.Start());
    MoveAll(kit, scale, priced);
  }
  for (const Moved& m : priced) {
    r.assumed_facts += m.changes ? 1 : 0;
    r.sensitive_to.insert(r.sensitive_to.end(), m.found.begin(), m.found.end());
    if (!m.found.empty()) continue;
    if (!s.cpu) {
      r.insensitive_to.push_back(Untried(m.fact, "nothing of the program is on the NPU"));
      continue;
    }
    r.insensitive_to.push_back(
        {m.fact.key, std::string(m.fact.def->unit), m.fact.value, m.lowest, m.highest,
         m.changes ? "the answers stay" : "the program's price does not depend on it"});
  }
  NPUKIT_RETURN_IF_ERROR(FillRecompiled(kit, options, s, compiled, r));
  std::stable_sort(r.sensitive_to.begin(), r.sensitive_to.end(),
                   [](const auto& a, const auto& b) { return Distance(a) < Distance(b); });
  std::sort(r.insensitive_to.begin(), r.insensitive_to.end(),
            [](const auto& a, const auto& b) { return a.fact < b.fact; });
  return OkStatus();
}

}  // namespace npukit::lab
