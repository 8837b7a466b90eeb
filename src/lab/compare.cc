#include "lab/compare.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "compile/shapes.h"
#include "eval/interpret.h"
#include "ir/input_shapes.h"
#include "lab/bench_accounts.h"
#include "lab/describe.h"
#include "lab/prepared.h"
#include "lab/verbs.h"
#include "passes/pass.h"

namespace npukit::lab {
namespace {

// Every layer's values are held three times: the device's, the reference's, alone.
constexpr std::uint64_t kMaxLayerBytes = std::uint64_t{2} << 30;

// The imported model at the shapes of the program that runs.
Result<ir::Graph> AtShapes(const Kit& kit, const std::string& path, const format::Head& head,
                           const format::Program& program) {
  NPUKIT_ASSIGN_OR_RETURN(importers::Imported imported, ReadModel(kit, path));
  std::map<std::string, tensor::Dims> shapes;
  for (std::size_t i = 0; i < head.inputs.size(); ++i)
    shapes[head.inputs[i].name] = program.input_types[i].dims();
  NPUKIT_RETURN_IF_ERROR(ir::SetInputShapes(imported.graph, shapes).WithContext("--shape"));
  return std::move(imported.graph);
}

// As compile::Compile prepares and places it.
Result<Placed> Place(const Kit& kit, const ir::Graph& imported, const target::Profile& profile,
                     const ModelOptions& options, bool npu) {
  Placed p;
  p.graph = imported;
  if (kit.progress) kit.progress("rewriting", 0, 0);
  NPUKIT_RETURN_IF_ERROR(passes::RunPasses(p.graph, profile, {}, nullptr));
  NPUKIT_RETURN_IF_ERROR(compile::RequireStatic(p.graph));
  if (kit.progress) kit.progress("placing operators", 0, 0);
  const compile::Goal goal = !npu                                    ? compile::Goal::kCpuOnly
                             : OptionsFor(kit, options).cost_decides ? compile::Goal::kFastest
                                                                     : compile::Goal::kMostOnNpu;
  NPUKIT_ASSIGN_OR_RETURN(p.partition,
                          compile::MakePartition(p.graph, profile, kit.lowerings, goal));
  NPUKIT_ASSIGN_OR_RETURN(
      p.cpu, compile::MakePartition(p.graph, profile, kit.lowerings, compile::Goal::kCpuOnly));
  return p;
}

class Comparison {
 public:
  Comparison(const Kit& kit, const ModelOptions& options, const RunOptions& run,
             const CompareOptions& compare, const Prepared& prepared, report::Compare& record)
      : kit_(kit), options_(options), run_(run), compare_(compare), p_(prepared), r_(record) {
    for (const BoundInput& i : p_.inputs) inputs_.push_back(i.value);
    tap_ = {p_.model.profile, run.threads};
  }

  // Outputs against outputs: all that a package can say.
  Status OfPackage(const std::vector<tensor::Value>& found) {
    const format::Head& head = p_.session->head();
    if (!compare_.against.empty()) {
      std::map<std::string, tensor::Type> types;
      std::vector<std::string> names;
      AddInterface(head, p_.chosen(), types, names);
      NPUKIT_RETURN_IF_ERROR(ReadDumped(names, types));
    }
    std::vector<tensor::Value> computed(found.size());
    if (compare_.against.empty()) {
      NPUKIT_ASSIGN_OR_RETURN(computed, RunCpuProgram());
      r_.reference = "the package's own CPU program, fp32";
    } else {
      r_.reference = Cat("values in ", compare_.against);
    }
    r_.notes.emplace_back("a package has no graph to look into: compare the model file for layers");
    return Outputs(found, computed);
  }

  // A model whose types are known only when it runs: outputs against outputs.
  Status OfSteps(const std::vector<tensor::Value>& found) {
    std::vector<tensor::Value> computed(found.size());
    if (compare_.against.empty()) {
      NPUKIT_ASSIGN_OR_RETURN(const importers::Imported imported, ReadModel(kit_, options_.path));
      Say("interpreting the model as imported");
      NPUKIT_ASSIGN_OR_RETURN(computed, eval::Interpret(imported.graph, inputs_));
      r_.reference =
          "each operator's own definition, interpreted one by one, fp32; outputs by the "
          "graph as imported";
    } else {
      std::map<std::string, tensor::Type> types;
      std::vector<std::string> names;
      AddInterface(p_.session->head(), p_.chosen(), types, names);
      NPUKIT_RETURN_IF_ERROR(ReadDumped(names, types));
      r_.reference = Cat("values in ", compare_.against);
    }
    r_.notes.emplace_back(
        "layers are left out: the model branches or loops, or has sizes that are known only when "
        "it "
        "runs; give --shape if it is its inputs that are open");
    return Outputs(found, computed);
  }

  Status OfModel(const std::vector<tensor::Value>& found) {
    if (p_.chosen().by_step) return OfSteps(found);
    const format::Head& head = p_.session->head();
    const bool npu = UsesNpu(p_.chosen());
    const bool interpret = compare_.interpret || !npu;  // the CPU is not its own judge
    NPUKIT_ASSIGN_OR_RETURN(const ir::Graph imported,
                            AtShapes(kit_, options_.path, head, p_.chosen()));
    if (!compare_.against.empty()) NPUKIT_RETURN_IF_ERROR(ReadDumpedOf(imported, head));
    NPUKIT_ASSIGN_OR_RETURN(const Placed placed,
                            Place(kit_, imported, p_.model.profile, options_, npu));
    const std::uint64_t bytes = LayerBytes(placed.graph);
    Values reference;
    if (interpret) {
      NPUKIT_ASSIGN_OR_RETURN(reference, InterpretAll(placed.graph));
      r_.reference = "each operator's own definition, interpreted one by one, fp32";
    } else {
      Say("computing the reference on the CPU");
      NPUKIT_ASSIGN_OR_RETURN(reference, RunTapped(kit_, placed.graph, placed.cpu, inputs_, tap_));
      r_.reference = "the CPU device in fp32, the model rewritten as for the NPU";
    }
    FillGiven(placed.graph, reference);
    std::vector<tensor::Value> computed(found.size());
    for (std::size_t i = 0; i < found.size(); ++i) computed[i] = reference[placed.graph.outputs[i]];
    if (interpret) {  // outputs by the graph as it was imported: rewrites are judged too
      Say("interpreting the model as imported");
      NPUKIT_ASSIGN_OR_RETURN(computed, eval::Interpret(imported, inputs_));
      r_.reference += "; outputs by the graph as imported";
    }
    std::vector<std::string> files(placed.graph.values.size());
    if (!compare_.against.empty()) UseDumped(placed.graph, reference, files);
    NPUKIT_RETURN_IF_ERROR(Outputs(found, computed));
    if (bytes > kMaxLayerBytes) {
      r_.notes.push_back(Cat("layers are left out: their values take ", bytes / 1'000'000,
                             " MB, more than ", kMaxLayerBytes / 1'000'000,
                             "; a smaller --shape shows them"));
      return OkStatus();
    }
    Say("running with every layer handed out");
    NPUKIT_ASSIGN_OR_RETURN(const Values entire,
                            RunTapped(kit_, placed.graph, placed.partition, inputs_, tap_));
    for (std::size_t i = 0; i < found.size(); ++i)
      NoteDrift(i, found[i], entire[placed.graph.outputs[i]]);
    Say("running every layer alone");
    NPUKIT_ASSIGN_OR_RETURN(const Values single,
                            RunApart(kit_, placed.graph, placed.partition, reference, tap_));
    return Layers(placed, reference, entire, single, files);
  }

 private:
  void Say(const char* what) const {
    if (kit_.progress) kit_.progress(what, 0, 0);
  }

  static void AddInterface(const format::Head& head, const format::Program& program,
                           std::map<std::string, tensor::Type>& types,
                           std::vector<std::string>& names) {
    for (std::size_t i = 0; i < head.inputs.size(); ++i) names.push_back(head.inputs[i].name);
    for (std::size_t i = 0; i < head.outputs.size(); ++i) {
      names.push_back(head.outputs[i].name);
      if (program.output_types[i].is_static())
        types[head.outputs[i].name] = program.output_types[i];
    }
  }

  Status ReadDumped(const std::vector<std::string>& names,
                    const std::map<std::string, tensor::Type>& types) {
    std::vector<std::string> outputs;
    for (const format::ValueSpec& s : p_.session->head().outputs) outputs.push_back(s.name);
    NPUKIT_ASSIGN_OR_RETURN(dump_, ReadDump(*kit_.env, compare_.against, names, types, outputs));
    // Values made from other inputs would be no reference.
    for (const BoundInput& in : p_.inputs) {
      const auto given = dump_.values.find(in.name);
      if (given == dump_.values.end()) continue;
      const auto d = eval::Compare(given->second, in.value);
      if (!d.ok() || d->unequal != 0) {
        return InvalidArgument(Cat("--against: ", Printable(dump_.files.at(in.name), 400),
                                   ": the reference was made from another ", Printable(in.name),
                                   " than this run uses; give it with --input or --inputs"));
      }
    }
    return OkStatus();
  }

  Status ReadDumpedOf(const ir::Graph& imported, const format::Head& head) {
    std::map<std::string, tensor::Type> types;
    std::vector<std::string> names;
    for (const ir::ValueInfo& v : imported.values) {
      if (v.name.empty() || v.constant) continue;
      names.push_back(v.name);
      if (v.type.is_static()) types[v.name] = v.type;
    }
    for (std::size_t i = 0; i < head.outputs.size(); ++i)
      types[head.outputs[i].name] = p_.chosen().output_types[i];
    return ReadDumped(names, types);
  }

  Result<std::vector<tensor::Value>> RunCpuProgram() {
    if (!UsesNpu(p_.chosen())) {
      return InvalidArgument(
          "a package's CPU program is not compared with itself: give --against, or compare the "
          "model file");
    }
    runtime::SessionOptions session_options;
    NPUKIT_ASSIGN_OR_RETURN(session_options.device, runtime::DeviceSpec::Parse("CPU"));
    session_options.threads = run_.threads;
    session_options.profile = p_.model.profile;
    const auto session =
        runtime::Session::Open(p_.model.package, session_options, kit_.open_device);
    if (!session.ok())
      return session.status().WithContext(
          "the package has nothing to compare with (give --against, or compare the model file)");
    NPUKIT_ASSIGN_OR_RETURN(const auto request, (*session)->NewRequest());
    for (const BoundInput& i : p_.inputs) {
      NPUKIT_RETURN_IF_ERROR(request->BindInput(i.name, i.value.dtype(), i.value.dims(),
                                                i.value.data(), i.value.byte_size()));
    }
    NPUKIT_RETURN_IF_ERROR(request->Run());
    std::vector<tensor::Value> values;
    for (const format::ValueSpec& s : p_.session->head().outputs) {
      NPUKIT_ASSIGN_OR_RETURN(const tensor::Value v, request->Output(s.name));
      NPUKIT_ASSIGN_OR_RETURN(tensor::Value own, v.Clone());
      values.push_back(std::move(own));
    }
    return values;
  }

  Result<Values> InterpretAll(const ir::Graph& g) {
    Say("interpreting the rewritten model");
    Values values(g.values.size());
    const auto keep = [&](ir::ValueId v, const tensor::Value& x) { values[v] = x; };
    NPUKIT_RETURN_IF_ERROR(eval::Interpret(g, inputs_, keep).status());
    return values;
  }

  // Handing every layer out keeps operators from being fused; that must not change what is
  // computed.
  void NoteDrift(std::size_t output, const tensor::Value& found, const tensor::Value& tapped) {
    if (!tapped.present()) return;  // no node makes it
    const auto d = eval::Compare(tapped, found);
    if (!d.ok() || d->unequal == 0) return;
    r_.notes.push_back(Cat(
        "with every layer handed out, output ", Printable(p_.session->head().outputs[output].name),
        " differs in ", d->unequal, " of ", d->count, " elements from the run itself, by at most ",
        d->max_abs, ": layers are as exact as that"));
  }

  // What no node makes: inputs and constants.
  void FillGiven(const ir::Graph& g, Values& values) const {
    for (std::size_t i = 0; i < g.inputs.size(); ++i) values[g.inputs[i]] = inputs_[i];
    for (std::size_t v = 0; v < values.size(); ++v) {
      if (g.values[v].constant) values[v] = *g.values[v].constant;
    }
  }

  static std::uint64_t LayerBytes(const ir::Graph& g) {
    std::uint64_t bytes = 0;
    for (const ir::Node& n : g.nodes) {
      for (const ir::ValueId v : n.outputs) {
        if (v != ir::kNoValue) bytes += g.value(v).type.bytes().value_or(0);
      }
    }
    return bytes;
  }

  // Dumped values take the place of computed ones, as judges and as what layers alone are fed.
  void UseDumped(const ir::Graph& g, Values& reference, std::vector<std::string>& files) {
    constexpr double kSane = 0.99;
    std::size_t used = 0;
    std::string strange;
    for (ir::ValueId v = 0; v < g.values.size(); ++v) {
      if (g.is_constant(v) || !reference[v].present()) continue;
      tensor::Value storage;
      const tensor::Value* dumped = FindDumped(dump_, g.value(v), &storage, &files[v]);
      if (dumped == nullptr) continue;
      const auto c = Measure(reference[v], *dumped);
      if (strange.empty() && (!c.ok() || !IsWithin(*c, kSane))) strange = files[v];
      reference[v] = *dumped;
      ++used;
    }
    r_.reference =
        Cat("values in ", compare_.against, " where there are any (", dump_.values.size(),
            " files, ", used, " values of the rewritten model); others: ", r_.reference);
    if (!strange.empty()) {
      r_.notes.push_back(Cat(strange, ": our own fp32 computes something else (cosine below ",
                             kSane, "): was it made from these inputs?"));
    }
  }

  Status Outputs(const std::vector<tensor::Value>& found,
                 const std::vector<tensor::Value>& computed) {
    const format::Head& head = p_.session->head();
    for (std::size_t i = 0; i < found.size(); ++i) {
      report::CompareOutput o;
      o.name = head.outputs[i].name;
      const auto dumped = dump_.values.find(o.name);
      const tensor::Value* judge = dumped != dump_.values.end() ? &dumped->second
                                   : computed[i].present()      ? &computed[i]
                                                                : nullptr;
      if (judge == nullptr) {
        r_.notes.push_back(Cat("output ", Printable(o.name), " has no reference in ",
                               compare_.against, ": it is not compared"));
        continue;
      }
      if (dumped != dump_.values.end()) o.file = dump_.files.at(o.name);
      auto c = Measure(found[i], *judge);
      if (!c.ok()) return c.status().WithContext(Cat("output ", Printable(o.name)));
      o.closeness = *c;
      o.within = IsWithin(o.closeness, r_.min_cosine);
      r_.outputs.push_back(std::move(o));
    }
    if (r_.outputs.empty())
      return NotFound(Cat("--against: no output of the model is in ", compare_.against));
    return OkStatus();
  }

  // The farther of two measures: a node with several results is as good as its worst.
  static void Worsen(report::Closeness& c, const report::Closeness& other) {
    c.max_abs = std::max(c.max_abs, other.max_abs);
    c.cosine = std::min(c.cosine, other.cosine);
    c.mismatched += other.mismatched;
    if (other.snr_db) c.snr_db = c.snr_db ? std::min(*c.snr_db, *other.snr_db) : *other.snr_db;
  }

  Status Layers(const Placed& placed, const Values& reference, const Values& entire,
                const Values& single, const std::vector<std::string>& files) {
    const ir::Graph& g = placed.graph;
    for (const compile::Segment& s : placed.partition.segments) {
      const std::string device(kit_.lowerings[static_cast<std::size_t>(s.device)]->device_class());
      for (const std::uint32_t index : s.nodes) {
        const ir::Node& n = g.nodes[index];
        report::CompareLayer l;
        l.node = n.name;
        l.op = std::string(n.op_name());
        for (const ops::EpilogueStep& e : n.epilogue) l.op += Cat("+", e.op->name);
        l.device = device;
        for (const std::uint32_t source : n.from) {
          if (source < g.source_nodes.size()) l.from.push_back(g.source_nodes[source].name);
        }
        for (const ir::ValueId v : n.outputs) {
          if (v == ir::kNoValue) continue;
          if (l.shape.empty()) l.shape = g.value(v).type.dims();
          auto e = Measure(entire[v], reference[v]);
          auto a = Measure(single[v], reference[v]);
          if (!e.ok() || !a.ok())
            return (e.ok() ? a : e).status().WithContext(Cat("layer ", Printable(n.name)));
          Worsen(l.entire, *e);
          Worsen(l.single, *a);
          if (l.file.empty()) l.file = files[v];
        }
        l.entire_within = IsWithin(l.entire, r_.min_cosine);
        l.single_within = IsWithin(l.single, r_.min_cosine);
        if (!r_.first_divergence && (!l.entire_within || !l.single_within)) {
          const bool alone = !l.single_within;
          r_.first_divergence = {r_.layers.size(), l.node, alone ? "single" : "entire",
                                 alone ? l.single.cosine : l.entire.cosine};
        }
        r_.layers.push_back(std::move(l));
      }
    }
    return OkStatus();
  }

  const Kit& kit_;
  const ModelOptions& options_;
  const RunOptions& run_;
  const CompareOptions& compare_;
  const Prepared& p_;
  report::Compare& r_;
  std::vector<tensor::Value> inputs_;
  TapOptions tap_;
  Dump dump_;
};

}  // namespace

Result<report::Compare> CompareModel(const Kit& kit, const ModelOptions& options,
                                     const RunOptions& run, const CompareOptions& compare) {
  NPUKIT_ASSIGN_OR_RETURN(const Prepared p, Prepare(kit, options, run));
  NPUKIT_ASSIGN_OR_RETURN(const std::unique_ptr<runtime::Request> request, p.NewRequest());
  if (kit.progress) kit.progress("running", 0, 0);
  NPUKIT_RETURN_IF_ERROR(request->Run());
  const format::Head& head = p.session->head();
  report::Compare r;
  r.model = options.path;
  r.target = TargetOf(p.model.profile);
  r.program = ProgramKey(head, p.chosen());
  r.device = p.session->device_description();
  r.precision = p.chosen().precision;
  r.against = compare.against;
  r.seed = run.inputs.seed;
  r.inputs = p.InputRecords();
  r.min_cosine = compare.min_cosine;
  r.compute_units = p.chosen().compute_units;
  if (options.strict_npu) r.off_npu = OffNpu(p.chosen(), options.allow);
  std::vector<tensor::Value> found;
  for (const format::ValueSpec& s : head.outputs) {
    NPUKIT_ASSIGN_OR_RETURN(const tensor::Value v, request->Output(s.name));
    found.push_back(v);
  }
  Comparison comparison(kit, options, run, compare, p, r);
  NPUKIT_RETURN_IF_ERROR(p.model.is_package ? comparison.OfPackage(found)
                                            : comparison.OfModel(found));
  return r;
}

}  // namespace npukit::lab
