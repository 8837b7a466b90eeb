#include "lab/explain.h"

#include <algorithm>

#include "base/text.h"
#include "lab/describe.h"
#include "lab/verbs.h"
#include "report/print.h"

namespace npukit::lab {
namespace {

bool TakesShapes(const format::Head& head, const format::Program& p, const ShapeSet& shapes) {
  for (std::size_t i = 0; i < head.inputs.size(); ++i) {
    const auto asked = shapes.find(head.inputs[i].name);
    if (asked != shapes.end() &&
        (!p.input_types[i].is_static() || asked->second != p.input_types[i].dims()))
      return false;
  }
  return true;
}

// The program that `run` would take for these shapes, if it uses the NPU; else the first there is.
Result<std::uint32_t> ChooseProgram(const format::Head& head, const ShapeSet& shapes) {
  std::optional<std::uint32_t> first;
  std::string there;
  for (std::uint32_t i = 0; i < head.programs.size(); ++i) {
    const format::Program& p = head.programs[i];
    there += Cat(there.empty() ? "" : "; ", ProgramKey(head, p));
    if (!TakesShapes(head, p, shapes)) continue;
    if (UsesNpu(p)) return i;
    if (!first) first = i;
  }
  if (first) return *first;
  return InvalidArgument(Cat("--shape: no program takes these shapes; there is: ", there));
}

Status CheckNames(const format::Head& head, const ShapeSet& shapes) {
  for (const auto& [name, dims] : shapes) {
    std::vector<std::string> names;
    for (const format::ValueSpec& s : head.inputs) names.push_back(s.name);
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      return InvalidArgument(Cat("--shape: the model has no input \"", Printable(name),
                                 "\"; it has: ", Join(names, ", ")));
    }
  }
  return OkStatus();
}

double DramGbytesPerS(const Subject& s) {
  const char* key = UsesNpu(s.pricer.program()) ? "npu.dram_gbytes_per_s" : "cpu.dram_gbytes_per_s";
  return s.profile.NumberOr(key, 0);
}

std::string_view ClassOf(const Kit& kit, const std::string& device) {
  for (const auto& l : kit.lowerings) {
    if (l->device() == device) return l->device_class();
  }
  return "";
}

// Every multiply-add at the peak of the accelerator; its weights, and inputs and outputs, once
// through DRAM.
void FillBounds(const Kit& kit, const Subject& s, const std::vector<target::Account>& accounts,
                report::Explain& r) {
  const format::Program& program = s.pricer.program();
  const std::string device = UsesNpu(program) ? "NPU" : "CPU";
  double macs_there = 0, macs = 0;
  for (std::size_t i = 0; i < accounts.size(); ++i) {
    macs += accounts[i].total.macs;
    if (s.pricer.segments()[i].device_class == device) macs_there += accounts[i].total.macs;
  }
  if (macs_there > 0)
    r.compute_bound_ms = PeakNs(s.pricer, accounts, device) * macs / macs_there / 1e6;
  double bytes = 0;
  std::vector<bool> counted(s.pricer.head().weights.size(), false);
  for (const format::ExecutableInfo& e : program.executables) {
    if (ClassOf(kit, e.device) != device) continue;  // the CPU may read a table's rows alone
    for (const std::uint32_t w : e.weights) {
      if (!counted[w]) bytes += static_cast<double>(s.pricer.head().weights[w].length);
      counted[w] = true;
    }
  }
  for (const auto* types : {&program.input_types, &program.output_types}) {
    for (const tensor::Type& t : *types) bytes += static_cast<double>(t.bytes().value_or(0));
  }
  if (const double rate = DramGbytesPerS(s); rate > 0) r.memory_bound_ms = bytes / rate / 1e6;
}

report::Alternative AlternativeOf(const Pricer& p, const Cost& cost) {
  return {p.program().devices, ProgramKey(p.head(), p.program()), cost.ms(), cost.mj(), cost.kind};
}

// Every other program of the package for the same inputs, priced on the same profile.
Status FillAlternatives(const Kit& kit, const std::shared_ptr<const format::Package>& package,
                        const Pricer& explained, Subject& s, report::Explain& r) {
  const format::Head& head = package->head();
  for (std::uint32_t i = 0; i < head.programs.size(); ++i) {
    const format::Program& p = head.programs[i];
    if (!(p.input_types == explained.program().input_types)) continue;
    if (&p == &explained.program()) continue;
    NPUKIT_ASSIGN_OR_RETURN(Pricer pricer, Pricer::Make(kit, package, i));
    NPUKIT_ASSIGN_OR_RETURN(const Cost cost, pricer.Price(s.profile, {}));
    r.alternatives.push_back(AlternativeOf(pricer, cost));
    if (!UsesNpu(p) && !s.cpu) s.cpu = std::move(pricer);
  }
  std::stable_sort(
      r.alternatives.begin(), r.alternatives.end(),
      [](const report::Alternative& a, const report::Alternative& b) { return a.ms < b.ms; });
  return OkStatus();
}

// Latency and energy of one inference; heat by average power, since that is what the phone must
// get rid of when inferences follow each other.
Status FillAdoption(const Subject& s, const Cost& npu, report::Explain& r) {
  if (!UsesNpu(s.pricer.program())) {
    r.adopt = {"no", "no", "no", "no operator of this model runs on the NPU"};
    return OkStatus();
  }
  if (!s.cpu) {
    r.adopt.because = "the package has no program for the CPU alone to compare with";
    return OkStatus();
  }
  NPUKIT_ASSIGN_OR_RETURN(const Cost cpu, s.cpu->Price(s.profile, {}));
  const auto milliwatts = [](const Cost& c) {
    return c.time_ns > 0 ? c.energy_pj / c.time_ns : 0;  // pJ / ns
  };
  r.adopt.latency = YesWhenLess(npu.time_ns, cpu.time_ns);
  r.adopt.energy = YesWhenLess(npu.energy_pj, cpu.energy_pj);
  r.adopt.heat = YesWhenLess(milliwatts(npu), milliwatts(cpu));
  const auto text = [&](const Cost& c) {
    return Cat(report::FigureText({c.ms(), "ms", c.kind}), ", ",
               report::FigureText({c.mj(), "mJ", c.kind}), ", ",
               report::FigureText({milliwatts(c), "mW", c.kind}));
  };
  r.adopt.because = Cat("with the NPU: ", text(npu), "; CPU alone: ", text(cpu),
                        "; heat is judged by the average power of inferences in a row");
  return OkStatus();
}

// On a profile where nothing is worth moving, what would it be to move it? Compiled as for -d NPU.
Result<std::shared_ptr<const format::Package>> CompileForced(const Kit& kit,
                                                             ModelOptions& options) {
  NPUKIT_ASSIGN_OR_RETURN(options.device, runtime::DeviceSpec::Parse("NPU"));
  NPUKIT_ASSIGN_OR_RETURN(const Model m, OpenModel(kit, options));
  return m.package;
}

}  // namespace

std::string YesWhenLess(double npu, double cpu) { return npu < cpu ? "yes" : "no"; }

Result<report::Explain> ExplainModel(const Kit& kit, ModelOptions options,
                                     const ExplainOptions& explain) {
  if (options.shapes.size() > 1)
    return InvalidArgument("--shape: one shape per input here; explain one program at a time");
  const ShapeSet shapes = options.shapes.empty() ? ShapeSet{} : options.shapes[0];
  const bool force = options.device.ToString() == "NPU";
  NPUKIT_ASSIGN_OR_RETURN(options.device, runtime::DeviceSpec::Parse("AUTO:NPU,CPU"));
  NPUKIT_ASSIGN_OR_RETURN(const bool is_package, IsPackage(*kit.env, options.path));
  const target::Profile& asked =
      options.profile.name.empty() ? options.host_profile : options.profile;
  if (!is_package && !asked.has_npu()) {
    return InvalidArgument(Cat("target ", Printable(asked.name),
                               " has no NPU, so there is nothing to explain; name a chip with -t "
                               "(npukit targets lists them)"));
  }
  NPUKIT_ASSIGN_OR_RETURN(const Model model, OpenModel(kit, options));
  const format::Head& head = model.package->head();
  NPUKIT_RETURN_IF_ERROR(CheckNames(head, shapes));
  NPUKIT_ASSIGN_OR_RETURN(std::uint32_t index, ChooseProgram(head, shapes));

  report::Explain r;
  std::shared_ptr<const format::Package> package = model.package;
  if (!is_package && (force || !UsesNpu(head.programs[index]))) {
    NPUKIT_ASSIGN_OR_RETURN(package, CompileForced(kit, options));
    index = 0;
    if (!force && UsesNpu(package->head().programs[0])) {
      r.notes.emplace_back(
          "run would leave every operator on the CPU, since the NPU does not pay here; explained "
          "is what -d NPU would do");
    }
  }
  if (package->head().programs[index].by_step) {
    return Unsupported(
        "explain prices a program that is laid out when compiling, and this one branches, loops or "
        "has open sizes, so what it costs is known only when it runs; give --shape if its inputs "
        "are open, or see npukit bench");
  }
  NPUKIT_ASSIGN_OR_RETURN(Pricer pricer, Pricer::Make(kit, package, index));
  Subject s{std::move(pricer), model.profile, std::nullopt};
  const format::Program& program = s.pricer.program();
  if (!UsesNpu(program))
    r.notes.emplace_back("no operator of this program is on the NPU: all of its time is the CPU's");

  if (kit.progress) kit.progress("pricing the program", 0, 0);
  NPUKIT_ASSIGN_OR_RETURN(const std::vector<target::Account> accounts,
                          s.pricer.Accounts(s.profile, {}, false));
  const Cost total = Sum(accounts);
  r.model = options.path;
  r.target = TargetOf(s.profile);
  r.shapes = ShapesOf(s.pricer.head(), program);
  r.program = ProgramKey(s.pricer.head(), program);
  r.devices = program.devices;
  r.precision = program.precision;
  r.kind = total.kind;
  r.total_ms = total.ms();
  r.energy_mj = total.mj();
  r.verdicts = program.verdicts;
  r.compute_units = program.compute_units;
  if (options.strict_npu) r.off_npu = OffNpu(program, options.allow);
  r.ops = OpRows(s.pricer, accounts);
  if (explain.spans) {
    NPUKIT_ASSIGN_OR_RETURN(const std::vector<target::Account> traced,
                            s.pricer.Accounts(s.profile, {}, true));
    r.spans = Timeline(traced);
  }
  FillBounds(kit, s, accounts, r);
  NPUKIT_RETURN_IF_ERROR(FillCauses(s, r));
  NPUKIT_RETURN_IF_ERROR(FillAlternatives(kit, model.package, s.pricer, s, r));
  NPUKIT_RETURN_IF_ERROR(FillAdoption(s, total, r));
  if (!is_package) NPUKIT_RETURN_IF_ERROR(FillLifts(kit, options, r));
  NPUKIT_RETURN_IF_ERROR(FillSensitivity(kit, options, is_package, s, r));
  return r;
}

}  // namespace npukit::lab
