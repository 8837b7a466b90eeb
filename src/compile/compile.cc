#include "compile/compile.h"

#include <algorithm>
#include <functional>

#include "base/text.h"
#include "compile/emit/emit.h"
#include "compile/emit/emit_steps.h"
#include "compile/partition/partition.h"
#include "compile/shapes.h"
#include "ir/input_shapes.h"
#include "ir/node.h"

namespace npukit::compile {
namespace {

// Every graph inside `g`, itself first. Importers and Verify bound how deep they nest.
void ForEachGraph(const ir::Graph& g, const std::function<void(const ir::Graph&)>& visit) {
  visit(g);
  for (const ir::Node& n : g.nodes) {
    for (const auto& [name, body] : n.bodies) {
      if (body) ForEachGraph(*body, visit);
    }
  }
}

Status RefuseForeign(const ir::Graph& graph) {
  const ir::Node* first = nullptr;
  int count = 0;
  ForEachGraph(graph, [&](const ir::Graph& g) {
    for (const ir::Node& n : g.nodes) {
      if (!n.is_foreign()) continue;
      if (first == nullptr) first = &n;
      ++count;
    }
  });
  if (first == nullptr) return OkStatus();
  ir::ForeignReason why = ir::WhyForeign(*first);
  if (why.sentence.ends_with('.')) why.sentence.pop_back();
  const std::string others =
      count == 1 ? "" : Cat(" (and ", count - 1, " more that nothing can run)");
  return Unsupported(Cat("node \"", Printable(first->name), "\": ",
                         why.code == "unknown_operator"
                             ? Cat("unknown operator ", Printable(first->foreign_op))
                             : why.sentence,
                         others, "; ", why.remedy, "; npukit check lists them all"));
}

Goal GoalOf(const target::Profile& profile, const CompileOptions& o) {
  if (!o.npu || !profile.has_npu()) return Goal::kCpuOnly;
  return o.cost_decides ? Goal::kFastest : Goal::kMostOnNpu;
}

std::string ShapesText(const ir::Graph& g) {
  std::vector<std::string> parts;
  for (ir::ValueId v : g.inputs)
    parts.push_back(Cat(Printable(g.value(v).name), "=",
                        g.value(v).type.is_static() ? JoinInts(g.value(v).type.dims(), "x")
                                                    : g.value(v).type.ToString()));
  return Join(parts, " ");
}

// The model at one set of shapes, rewritten.
Result<ir::Graph> Prepare(const ir::Graph& model, const target::Profile& profile,
                          const std::map<std::string, tensor::Dims>& shapes,
                          const CompileOptions& options, std::vector<passes::PassReport>& report) {
  ir::Graph g = model;
  if (!shapes.empty()) NPUKIT_RETURN_IF_ERROR(ir::SetInputShapes(g, shapes).WithContext("--shape"));
  passes::RunOptions run;
  run.skip = options.skip_passes;
  NPUKIT_RETURN_IF_ERROR(passes::RunPasses(g, profile, run, &report));
  return g;
}

void FillInterface(const ir::Graph& model, const target::Profile& profile,
                   const CompileOptions& options, format::Head& head) {
  head.model_name = model.name;
  head.tool_version = options.tool_version;
  head.profile = profile;
  for (ir::ValueId v : model.inputs)
    head.inputs.push_back({model.value(v).name, model.value(v).type});
  for (ir::ValueId v : model.outputs)
    head.outputs.push_back({model.value(v).name, model.value(v).type});
  head.metadata = model.metadata;
}

std::string WhyNotOnNpu(const ir::Graph& g, const target::Profile& profile,
                        const std::string& shapes) {
  const std::string remedy = ShapeRemedy(g);
  if (remedy.empty()) {
    return Cat(shapes, ": no operator is placed on the NPU of ", profile.name,
               "; npukit check says why");
  }
  return Cat(shapes,
             ": shapes are left open, so the CPU runs it and plans for each when it comes; the NPU "
             "of ",
             profile.name, " needs them now: give ", remedy);
}

Status RefuseOffNpu(const Partition& p, const CompileOptions& options) {
  if (!options.strict_npu) return OkStatus();
  const target::Verdict* off = FirstOffNpu(p.verdicts, options.allow);
  if (off == nullptr) return OkStatus();
  return Unsupported(
      Cat("--strict-npu: ", Printable(off->from.empty() ? off->op : off->from.front()), " (",
          off->op, ") falls off the NPU: ", off->reason));
}

// Adds the programs for one set of shapes.
Status AddPrograms(const ir::Graph& g, const target::Profile& profile, const LoweringList& devices,
                   const CompileOptions& options, CompileResult& result) {
  const std::string shapes = ShapesText(g);
  const Goal goal = GoalOf(profile, options);
  const auto emit = [&](const Partition& partition, std::string_view what,
                        Goal goal_of) -> Result<format::Program> {
    LowerOptions lower;
    if (options.progress) {
      lower.progress = [&](std::string_view step, int done, int total) {
        options.progress(Cat(shapes, " ", what, ": ", step), done, total);
      };
    }
    return NeedsSteps(g)
               ? EmitStepProgram(g, partition, profile, devices, goal_of, lower, result.writer)
               : EmitProgram(g, partition, profile, devices, lower, result.writer);
  };
  if (goal != Goal::kCpuOnly) {
    if (options.progress) options.progress(Cat(shapes, ": placing operators"), 0, 0);
    NPUKIT_ASSIGN_OR_RETURN(const Partition partition, MakePartition(g, profile, devices, goal));
    NPUKIT_RETURN_IF_ERROR(RefuseOffNpu(partition, options));
    NPUKIT_ASSIGN_OR_RETURN(format::Program program, emit(partition, "NPU program", goal));
    const bool uses_npu = program.devices != "CPU";
    result.head.programs.push_back(std::move(program));
    if (!uses_npu) {  // the CPU's own program, with the reasons
      result.warnings.push_back(WhyNotOnNpu(g, profile, shapes));
      return OkStatus();
    }
  }
  if (!options.cpu_only_program && goal != Goal::kCpuOnly) return OkStatus();
  NPUKIT_ASSIGN_OR_RETURN(const Partition partition,
                          MakePartition(g, profile, devices, Goal::kCpuOnly));
  NPUKIT_ASSIGN_OR_RETURN(format::Program program, emit(partition, "CPU program", Goal::kCpuOnly));
  result.head.programs.push_back(std::move(program));
  return OkStatus();
}

}  // namespace

Result<CompileResult> Compile(const ir::Graph& model, const target::Profile& profile,
                              const LoweringList& devices, const CompileOptions& options) {
  NPUKIT_RETURN_IF_ERROR(RefuseForeign(model));
  CompileResult result;
  FillInterface(model, profile, options, result.head);
  const Goal goal = GoalOf(profile, options);
  auto shape_sets = options.shapes;
  if (shape_sets.empty()) shape_sets.emplace_back();
  for (std::size_t i = 0; i < shape_sets.size(); ++i) {
    if (std::find(shape_sets.begin(), shape_sets.begin() + static_cast<std::ptrdiff_t>(i),
                  shape_sets[i]) != shape_sets.begin() + static_cast<std::ptrdiff_t>(i)) {
      return InvalidArgument("--shape: the same shapes are given twice");
    }
    if (options.progress)
      options.progress("rewriting", static_cast<int>(i), static_cast<int>(shape_sets.size()));
    std::vector<passes::PassReport> report;
    NPUKIT_ASSIGN_OR_RETURN(const ir::Graph g,
                            Prepare(model, profile, shape_sets[i], options, report));
    if (goal == Goal::kMostOnNpu) NPUKIT_RETURN_IF_ERROR(RequireStatic(g));
    if (i == 0) result.passes = std::move(report);
    NPUKIT_RETURN_IF_ERROR(AddPrograms(g, profile, devices, options, result));
  }
  return result;
}

Result<CheckResult> Check(const ir::Graph& model, const target::Profile& profile,
                          const LoweringList& devices, const CompileOptions& options) {
  if (options.shapes.size() > 1) {
    return InvalidArgument(Cat("check looks at one set of shapes at a time, found ",
                               options.shapes.size(), "; call it once for each --shape"));
  }
  CheckResult result;
  const std::map<std::string, tensor::Dims> as_it_is;
  NPUKIT_ASSIGN_OR_RETURN(
      const ir::Graph g,
      Prepare(model, profile, options.shapes.empty() ? as_it_is : options.shapes[0], options,
              result.passes));
  // A target without an NPU is asked all the same: the answer is that it has none.
  const Goal goal = options.cost_decides ? Goal::kFastest : Goal::kMostOnNpu;
  NPUKIT_ASSIGN_OR_RETURN(result.verdicts, AskAndPlace(g, profile, devices, goal));
  result.compute_units = CountUnits(g, result.verdicts);
  Status asked;
  ForEachGraph(g, [&](const ir::Graph& inner) {
    for (const ir::ValueInfo& v : inner.values) {
      if (v.constant) result.weight_bytes += v.constant->byte_size();
    }
    if (&inner == &g || !asked.ok()) return;
    auto verdicts = AskAndPlace(inner, profile, devices, goal);  // bodies are placed by themselves
    if (!verdicts.ok()) {
      asked = verdicts.status();
      return;
    }
    for (target::Verdict& v : *verdicts) {
      JudgeInBody(v);
      result.verdicts.push_back(std::move(v));
    }
  });
  NPUKIT_RETURN_IF_ERROR(asked);
  return result;
}

const target::Verdict* FirstOffNpu(const std::vector<target::Verdict>& verdicts,
                                   const std::vector<std::string>& allow) {
  for (const target::Verdict& v : verdicts) {
    if (v.placed_on == "NPU" || v.placed_on == "folded" || v.from.empty()) continue;
    const ops::OpDef* op = ops::FindOp(v.op);
    if (op != nullptr && op->loop == ops::LoopShape::kShape) continue;
    const auto allowed = [&](const std::string& a) { return a == v.op || a == v.foreign_op; };
    if (std::any_of(allow.begin(), allow.end(), allowed)) continue;
    return &v;
  }
  return nullptr;
}

}  // namespace npukit::compile
