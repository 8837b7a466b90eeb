// Assumed facts that a program is compiled for: limits of operators, sizes of buffers. Another
// value is another program, so the model is compiled again, at few values: a limit matters only at
// those that the model's own operators need, and a size is halved and doubled.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/text.h"
#include "ir/graph.h"
#include "ir/input_shapes.h"
#include "lab/explain.h"
#include "passes/pass.h"
#include "target/consistent.h"

namespace npukit::lab {
namespace {

constexpr int kMostCompiles = 40;   // of all facts together
constexpr int kRefinements = 3;     // of a size, after the factor of two: to less than a tenth
constexpr double kLargest = 64;     // times what is assumed: as large as a buffer is tried
constexpr std::int64_t kLine = 32;  // buffers come in multiples of this

constexpr std::string_view kAccumulator = "npu.cube.accumulator_fp16_bits";

struct Answer {
  bool latency = false, energy = false;  // is the NPU better?
};

// The model at any value of one fact, as it was compiled for the program explained.
class Recompiler {
 public:
  static Result<Recompiler> Make(const Kit& kit, const ModelOptions& options, const Subject& s) {
    NPUKIT_ASSIGN_OR_RETURN(importers::Imported imported, ReadModel(kit, options.path));
    Recompiler r(kit, s);
    r.graph_ = std::move(imported.graph);
    if (!options.shapes.empty())
      NPUKIT_RETURN_IF_ERROR(ir::SetInputShapes(r.graph_, options.shapes[0]));
    // No pass looks at a profile's numbers, so they run once.
    NPUKIT_RETURN_IF_ERROR(passes::RunPasses(r.graph_, s.profile, {}, nullptr));
    r.options_ = OptionsFor(kit, options);
    r.options_.shapes.clear();
    r.options_.cpu_only_program = false;  // its price is known
    r.options_.progress = nullptr;
    for (const passes::PassDef& p : passes::AllPasses())
      r.options_.skip_passes.emplace_back(p.name);
    if (s.cpu || !UsesNpu(s.pricer.program())) {
      NPUKIT_ASSIGN_OR_RETURN(r.alone_, (s.cpu ? *s.cpu : s.pricer).Price(s.profile, {}));
    }
    for (const auto& l : kit.lowerings) {
      if (l->device_class() == "NPU") r.npu_ = l.get();
    }
    NPUKIT_ASSIGN_OR_RETURN(const Cost now, s.pricer.Price(s.profile, {}));
    r.now_ = r.AnswerOf(UsesNpu(s.pricer.program()) ? std::optional(now) : std::nullopt);
    return r;
  }

  Answer now() const { return now_; }
  int compiles() const { return compiles_; }
  bool exhausted() const { return compiles_ >= kMostCompiles; }

  target::Profile With(const std::string& fact, double value) const {
    target::Profile p = s_->profile;
    p.facts[fact].value = value;
    return p;
  }

  Result<Answer> At(const std::string& fact, double value) {
    if (kit_->progress) kit_->progress(Cat("compiling with ", fact, " = ", value), compiles_, 0);
    const target::Profile p = With(fact, value);
    NPUKIT_ASSIGN_OR_RETURN(std::optional<Cost> cost, CostOf(p, options_));
    if (!cost && options_.cost_decides) {
      // As explain does where nothing pays: what it would be to move it all the same.
      compile::CompileOptions forced = options_;
      forced.cost_decides = false;
      NPUKIT_ASSIGN_OR_RETURN(cost, CostOf(p, forced));
    }
    return AnswerOf(cost);
  }

  // What the model's operators need of a limit, as far as it is the first thing in their way when
  // it is as low as can be.
  std::set<double> Needs(const std::string& fact, double least) const {
    std::set<double> needs;
    if (npu_ == nullptr) return needs;
    const target::Profile p = With(fact, least);
    for (const ir::Node& n : graph_.nodes) {
      if (n.op == nullptr || !fact.starts_with(Cat("npu.op.", n.op->name, "."))) continue;
      const target::Verdict v = npu_->Supports(graph_, n, p);
      if (v.supported || v.fact != fact) continue;
      char* end = nullptr;
      const double found = std::strtod(v.found.c_str(), &end);
      if (end != v.found.c_str() && *end == '\0') needs.insert(found);
    }
    return needs;
  }

 private:
  Recompiler(const Kit& kit, const Subject& s) : kit_(&kit), s_(&s) {}

  // Of the model compiled for the profile; absent when nothing is on the NPU then.
  Result<std::optional<Cost>> CostOf(const target::Profile& p,
                                     const compile::CompileOptions& options) {
    NPUKIT_ASSIGN_OR_RETURN(const compile::CheckResult placed,
                            compile::Check(graph_, p, kit_->lowerings, options));
    const auto on_npu = [](const target::Verdict& v) { return v.placed_on == "NPU"; };
    if (std::none_of(placed.verdicts.begin(), placed.verdicts.end(), on_npu))
      return std::optional<Cost>();
    ++compiles_;
    NPUKIT_ASSIGN_OR_RETURN(compile::CompileResult result,
                            compile::Compile(graph_, p, kit_->lowerings, options));
    auto bytes = std::make_shared<std::vector<std::byte>>();
    NPUKIT_ASSIGN_OR_RETURN(*bytes, result.writer.ToBytes(std::move(result.head)));
    NPUKIT_ASSIGN_OR_RETURN(const auto package, format::Package::FromBytes(*bytes, bytes));
    if (!UsesNpu(package->head().programs[0])) return std::optional<Cost>();
    NPUKIT_ASSIGN_OR_RETURN(const Pricer pricer, Pricer::Make(*kit_, package, 0));
    NPUKIT_ASSIGN_OR_RETURN(const Cost cost, pricer.Price(p, {}));
    return std::optional<Cost>(cost);
  }

  Answer AnswerOf(const std::optional<Cost>& npu) const {
    if (!npu) return {};
    return {npu->time_ns < alone_.time_ns, npu->energy_pj < alone_.energy_pj};
  }

  const Kit* kit_;
  const Subject* s_;
  const compile::Lowering* npu_ = nullptr;
  ir::Graph graph_;  // after the passes
  compile::CompileOptions options_;
  Cost alone_;  // the CPU
  Answer now_;
  int compiles_ = 0;
};

// One fact: values in one direction, the nearest first, and where the answer turns among them.
class Turn {
 public:
  Turn(Recompiler& compiler, const AssumedFact& fact) : compiler_(compiler), fact_(fact) {}

  // `refine`: between two values that lie side by side there are others.
  void Among(const std::vector<double>& values, bool refine) {
    if (values.empty()) return;
    std::size_t last = values.size() - 1;
    while (!Ask(values[last])) {  // no program at all: somewhat nearer then
      if (last == 0) return;
      --last;
    }
    lowest_ = std::min(lowest_.value_or(fact_.value), values[last]);
    highest_ = std::max(highest_.value_or(fact_.value), values[last]);
    Find(values, last, &Answer::latency, "latency", refine);
    Find(values, last, &Answer::energy, "energy", refine);
  }

  std::vector<report::Sensitivity> found;
  const std::string& refusal() const { return refusal_; }
  double lowest() const { return lowest_.value_or(fact_.value); }
  double highest() const { return highest_.value_or(fact_.value); }

 private:
  std::optional<Answer> Ask(double value) {
    if (const auto it = asked_.find(value); it != asked_.end()) return it->second;
    std::optional<Answer> answer;
    if (compiler_.exhausted()) {
      refusal_ = Cat("not tried further: ", kMostCompiles, " programs were compiled");
    } else if (auto there = compiler_.At(fact_.key, value); there.ok()) {
      answer = *there;
    } else {
      refusal_ = Cat("no program at ", value, ": ", there.status().message());
    }
    asked_[value] = answer;
    return answer;
  }

  // By bisection: once the answer has turned it is taken to stay so.
  void Find(const std::vector<double>& values, std::size_t last, bool Answer::* which,
            const char* conclusion, bool refine) {
    const bool now = compiler_.now().*which;
    const auto turned = [&](double v) {
      const auto answer = Ask(v);
      return answer && (*answer).*which != now;
    };
    if (!turned(values[last])) return;
    std::size_t same = 0, other = last;  // the answer has turned at `other`, not before `same`
    while (same < other) {
      const std::size_t middle = same + (other - same) / 2;
      if (turned(values[middle])) {
        other = middle;
      } else {
        same = middle + 1;
      }
    }
    double at = values[other];
    double before = other > 0 ? values[other - 1] : fact_.value;
    for (int i = 0; refine && i < kRefinements; ++i) {
      const double middle = kLine * std::round(std::sqrt(at * before) / kLine);
      if (middle <= std::min(at, before) || middle >= std::max(at, before)) break;
      (turned(middle) ? at : before) = middle;
    }
    found.push_back(
        {fact_.key, std::string(fact_.def->unit), fact_.value, at, conclusion, now ? "no" : "yes"});
  }

  Recompiler& compiler_;
  const AssumedFact& fact_;
  std::map<double, std::optional<Answer>> asked_;
  std::optional<double> lowest_, highest_;
  std::string refusal_;
};

// Just below what an operator needs it falls off the NPU; at what it needs it comes on.
void MoveLimit(const Recompiler& compiler, const AssumedFact& fact, Turn& turn, bool& used) {
  const std::set<double> needs = compiler.Needs(fact.key, fact.def->min);
  used = !needs.empty();
  std::vector<double> down, up;
  for (const double need : needs) {
    if (need > fact.value) {
      if (need <= fact.def->max) up.push_back(need);
    } else if (need - 1 >= fact.def->min) {
      down.push_back(need - 1);
    }
  }
  std::reverse(down.begin(), down.end());
  turn.Among(down, false);
  turn.Among(up, false);
}

void MoveSize(const Recompiler& compiler, const AssumedFact& fact, Turn& turn) {
  const auto allowed = [&](double v) {
    return v >= fact.def->min && v <= fact.def->max &&
           target::CheckConsistent(compiler.With(fact.key, v)).ok();
  };
  std::vector<double> down, up;
  for (double v = fact.value / 2;; v /= 2) {
    const double size = kLine * std::floor(v / kLine);
    if (!allowed(size)) break;
    down.push_back(size);
  }
  for (double v = fact.value * 2; v <= kLargest * fact.value && allowed(v); v *= 2) up.push_back(v);
  turn.Among(down, true);
  turn.Among(up, true);
}

}  // namespace

bool NeedsCompiling(std::string_view key) {
  if (key.starts_with("npu.op.") || key == kAccumulator) return true;
  for (const std::string_view size :
       {"npu.l0a_bytes", "npu.l0b_bytes", "npu.l0c_bytes", "npu.sram_bytes", "npu.ub_bytes"}) {
    if (key == size) return true;
  }
  return false;
}

Status FillRecompiled(const Kit& kit, const ModelOptions& options, const Subject& s,
                      const std::vector<AssumedFact>& facts, report::Explain& r) {
  if (facts.empty()) return OkStatus();
  NPUKIT_ASSIGN_OR_RETURN(Recompiler compiler, Recompiler::Make(kit, options, s));
  for (const AssumedFact& fact : facts) {
    Turn turn(compiler, fact);
    bool used = true;
    if (fact.key == kAccumulator) {
      turn.Among({fact.value == 16 ? 32.0 : 16.0}, false);
    } else if (fact.key.starts_with("npu.op.")) {
      MoveLimit(compiler, fact, turn, used);
    } else {
      MoveSize(compiler, fact, turn);
    }
    r.assumed_facts += used ? 1 : 0;
    r.sensitive_to.insert(r.sensitive_to.end(), turn.found.begin(), turn.found.end());
    if (!turn.found.empty()) continue;
    std::string because = used ? "the answers stay" : "no operator of the model meets it";
    if (!turn.refusal().empty()) because = turn.refusal();
    r.insensitive_to.push_back({fact.key, std::string(fact.def->unit), fact.value, turn.lowest(),
                                turn.highest(), because});
  }
  return OkStatus();
}

}  // namespace npukit::lab
