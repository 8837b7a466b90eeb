// Most facts of a phone's NPU are assumed. Which of them decide the answer? Each is moved alone
// over its whole range; where the answer at an end is the other one, the value at which it turns is
// found by bisection. The blobs are priced again, so placement and tiling stay as they are.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "base/text.h"
#include "lab/explain.h"
#include "target/consistent.h"

namespace npukit::lab {
namespace {

constexpr double kPrecision = 1e-3;  // relative, of flips_at
constexpr int kMostSteps = 60;

// A blob is compiled for these, so another value is another program; or no device's model reads
// them.
bool IsOutOfReach(std::string_view key) {
  const bool buffer =
      key.starts_with("npu.") && key.ends_with("_bytes") && key != "npu.dram_burst_bytes";
  return buffer || key.starts_with("npu.op.") || key.starts_with("npu.stack.") ||
         key == "npu.cube.accumulator_fp16_bits";
}

struct Answers {
  bool latency = false, energy = false;  // the NPU is better
  bool operator==(const Answers&) const = default;
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

  Answers Now() const { return Weigh(npu_, cpu_); }

  Result<Answers> At(const std::string& fact, double value, bool* changes) const {
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
  static Answers Weigh(const Part& npu, const Part& cpu) {
    const Cost& alone = cpu.cpu_program;
    return {npu.npu_program.time_ns + cpu.npu_program.time_ns < alone.time_ns,
            npu.npu_program.energy_pj + cpu.npu_program.energy_pj < alone.energy_pj};
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

// About half way between a value with one answer and a value with the other.
double Middle(double a, double b, Grid grid) {
  const double middle = a > 0 && b > 0 ? std::sqrt(a) * std::sqrt(b) : (a + b) / 2;
  switch (grid) {
    case Grid::kAny:
      break;
    case Grid::kWhole:
      return std::round(middle);
    case Grid::kPowerOfTwo:
      return std::exp2(std::round(std::log2(middle)));
  }
  return middle;
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
        now_(scale.Now()) {}

  bool changes() const { return changes_; }

  // Towards one end of the range, or as far as the other facts allow.
  void Towards(double end, std::vector<report::Sensitivity>& found) {
    for (int i = 0; i < kMostSteps && !scale_.Allows(fact_, end); ++i)
      end = Middle(value_, end, grid_);
    if (end == value_) return;
    const auto there = Ask(end);
    if (!there) return;
    if (there->latency != now_.latency)
      Find(end, now_.latency, &Answers::latency, "latency", found);
    if (there->energy != now_.energy) Find(end, now_.energy, &Answers::energy, "energy", found);
  }

 private:
  std::optional<Answers> Ask(double value) {
    bool changes = false;
    const auto answers = scale_.At(fact_, value, &changes);
    if (!answers.ok()) return std::nullopt;
    changes_ = changes_ || changes;
    return *answers;
  }

  void Find(double end, bool now, bool Answers::* answer, const char* conclusion,
            std::vector<report::Sensitivity>& found) {
    double same = value_, other = end;
    for (int i = 0; i < kMostSteps; ++i) {
      if (std::abs(other - same) <= kPrecision * std::max(std::abs(other), std::abs(same))) break;
      const double middle = Middle(same, other, grid_);
      if (middle == same || middle == other) break;
      const auto there = Ask(middle);
      if (!there) return;
      ((*there).*answer == now ? same : other) = middle;
    }
    found.push_back({fact_, std::string(def_.unit), value_, other, conclusion, now ? "no" : "yes"});
  }

  const Scale& scale_;
  const std::string fact_;
  const double value_;
  const target::FactDef& def_;
  const Grid grid_;
  const Answers now_;
  bool changes_ = false;
};

}  // namespace

Status FillSensitivity(const Kit& kit, const Subject& s, report::Explain& r) {
  if (!s.cpu || r.adopt.latency.empty()) return OkStatus();
  Scale scale(s);
  NPUKIT_RETURN_IF_ERROR(scale.Start());
  int done = 0;
  for (const auto& [key, fact] : s.profile.facts) {
    if (kit.progress)
      kit.progress(Cat("moving assumed facts: ", key), done++,
                   static_cast<int>(s.profile.facts.size()));
    const target::FactDef* def = target::FindFactDef(key);
    const double* value = std::get_if<double>(&fact.value);
    if (fact.source != target::Source::kAssumed || def == nullptr || value == nullptr ||
        IsOutOfReach(key))
      continue;
    Search search(scale, key, *value, *def);
    std::vector<report::Sensitivity> found;
    search.Towards(def->min, found);
    search.Towards(def->max, found);
    r.assumed_facts += search.changes() ? 1 : 0;
    r.sensitive_to.insert(r.sensitive_to.end(), found.begin(), found.end());
  }
  std::stable_sort(r.sensitive_to.begin(), r.sensitive_to.end(),
                   [](const auto& a, const auto& b) { return Distance(a) < Distance(b); });
  return OkStatus();
}

}  // namespace npukit::lab
