#include "compile/partition/partition.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "base/text.h"
#include "compile/compile.h"
#include "compile/partition/cost.h"
#include "compile/partition/place.h"
#include "compile/partition/subgraph.h"
#include "compile/shapes.h"
#include "ir/node.h"

namespace npukit::compile {
namespace {

std::string Milliseconds(double ns) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g ms", std::abs(ns) < 1 ? 0.0 : ns / 1e6);
  return text;
}

target::Verdict NotOnNpu(const ir::Node& n, std::string code, std::string reason,
                         std::string remedy) {
  target::Verdict v;
  v.op = n.op ? std::string(n.op->name) : "";
  v.device = "NPU";
  v.supported = false;
  v.code = std::move(code);
  v.reason = std::move(reason);
  v.remedy = std::move(remedy);
  return v;
}

// Names of the source nodes, and what the file calls the operator.
void NameSources(const ir::Graph& g, const ir::Node& n, target::Verdict& v) {
  v.from.clear();
  for (std::uint32_t s : n.from) {
    if (s < g.source_nodes.size()) v.from.push_back(g.source_nodes[s].name);
  }
  if (!v.foreign_op.empty()) return;
  if (!n.foreign_op.empty()) {
    v.foreign_op = n.foreign_op;
  } else if (!n.from.empty() && n.from[0] < g.source_nodes.size()) {
    v.foreign_op = g.source_nodes[n.from[0]].op;
  }
}

target::Verdict AskOne(const ir::Graph& g, const ir::Node& n, const target::Profile& profile,
                       const Lowering* npu, Goal goal, const std::string& shape_remedy) {
  target::Verdict v;
  if (n.is_foreign()) {
    ir::ForeignReason why = ir::WhyForeign(n);
    v = NotOnNpu(n, why.code, std::move(why.sentence), std::move(why.remedy));
  } else if (n.op->control) {
    v = NotOnNpu(n, "control_flow",
                 "Branches and loops run on the host; what is in them may be on the NPU.",
                 "nothing to do, or export the model with the branch taken or the loop unrolled");
    if (goal == Goal::kCpuOnly) {
      v = target::Verdict();
      v.op = std::string(n.op->name);
      v.device = "CPU";
    }
  } else if (goal == Goal::kCpuOnly) {
    v.op = std::string(n.op->name);
    v.device = "CPU";
  } else if (npu == nullptr) {
    v = NotOnNpu(n, "no_npu", Cat("Target ", profile.name, " has no NPU."),
                 "name a chip with -t; npukit targets lists them");
  } else if (!IsStatic(g, n)) {
    v = NotOnNpu(n, "dynamic_shape", "The NPU needs every shape to be known when compiling.",
                 shape_remedy.empty() ? "export the model so that shapes do not depend on data"
                                      : shape_remedy);
  } else {
    v = npu->Supports(g, n, profile);
  }
  NameSources(g, n, v);
  return v;
}

// Gain and copy are sums over the operators by themselves. Placement has the last word by what
// whole divisions take as lowered, so the two may disagree; then the sentence says which decided.
void SayWhyNotWorthIt(const Refusal& r, target::Verdict& v) {
  v.code = "costs_more_than_it_saves";
  v.fact = r.gain_ns > 0 ? "npu.boundary_us" : "npu.dispatch_us";
  v.limit = Cat("gain ", Milliseconds(r.gain_ns));
  v.found = Cat("copy ", Milliseconds(r.copy_ns));
  if (r.gain_ns > r.copy_ns) {
    v.reason =
        Cat("The NPU could, and operator by operator it would gain ", Milliseconds(r.gain_ns),
            " for ", Milliseconds(r.copy_ns),
            " of hand-overs, but the program as lowered is faster with this part on the CPU.");
  } else if (r.gain_ns > 0) {
    v.reason = Cat("The NPU could, but handing the data over costs ", Milliseconds(r.copy_ns),
                   " and saves ", Milliseconds(r.gain_ns), ".");
  } else if (r.copy_ns < 0) {
    v.reason = Cat("The NPU could, but this part takes ", Milliseconds(-r.gain_ns),
                   " longer there, more than the ", Milliseconds(-r.copy_ns),
                   " of hand-overs it would spare.");
  } else {
    v.reason = Cat("The NPU could, but this part takes ", Milliseconds(-r.gain_ns),
                   " longer there than on the CPU.");
  }
  v.remedy =
      "nothing to do: the CPU is faster here; run or bench the model file with -d NPU to force it";
}

}  // namespace

int FindDevice(const LoweringList& devices, std::string_view device_class) {
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (devices[i]->device_class() == device_class) return static_cast<int>(i);
  }
  return -1;
}

namespace {

bool CanBeLowered(const ir::Graph& g) {
  return std::all_of(g.nodes.begin(), g.nodes.end(),
                     [&](const ir::Node& n) { return !n.is_foreign() && IsStatic(g, n); });
}

double LoweredNs(const ir::Graph& g, const ir::Uses& uses, const Placement& placement,
                 const Lowering* npu, const Lowering& cpu, const target::Profile& profile) {
  double ns = 0;
  std::vector<bool> inside(g.nodes.size(), false);
  for (const Segment& s : placement.segments) {
    const Subgraph sub = CutOut(g, uses, s.nodes, inside);
    const auto lowered = (s.device == kNpuSide ? *npu : cpu).Lower(sub.graph, profile, {});
    if (!lowered.ok()) return std::numeric_limits<double>::infinity();
    ns += lowered->estimate.time_ns;
  }
  return ns;
}

struct Placed {
  std::vector<target::Verdict> verdicts;
  std::vector<Segment> segments;  // device is an index into the LoweringList
};

Result<Placed> AskPriceAndPlace(const ir::Graph& g, const target::Profile& profile,
                                const LoweringList& devices, Goal goal) {
  const int cpu_index = FindDevice(devices, "CPU");
  if (cpu_index < 0) return Internal("compile: no CPU device was given");
  const int npu_index = profile.has_npu() ? FindDevice(devices, "NPU") : -1;
  const Lowering* npu =
      npu_index >= 0 ? devices[static_cast<std::size_t>(npu_index)].get() : nullptr;

  Placed out;
  const std::string shape_remedy = ShapeRemedy(g);
  std::vector<bool> npu_can;
  for (const ir::Node& n : g.nodes) {
    out.verdicts.push_back(AskOne(g, n, profile, npu, goal, shape_remedy));
    npu_can.push_back(npu != nullptr && goal != Goal::kCpuOnly && out.verdicts.back().supported);
  }

  const ir::Uses uses(g);
  const Lowering& cpu = *devices[static_cast<std::size_t>(cpu_index)];
  const Costs costs = Price(g, npu_can, npu, cpu, profile);
  Placement placement = PlaceNodes(g, uses, costs, goal);
  if (goal == Goal::kFastest && CanBeLowered(g)) {
    placement = Refine(g, uses, costs, std::move(placement), [&](const Placement& p) {
      return LoweredNs(g, uses, p, npu, cpu, profile);
    });
  }
  const std::vector<Refusal> refusals = ExplainCpuIslands(g, uses, costs, placement.side);
  for (std::size_t s = 0; s < placement.segments.size(); ++s) {
    Segment segment = placement.segments[s];
    const bool on_npu = segment.device == kNpuSide;
    for (std::uint32_t i : segment.nodes) {
      target::Verdict& v = out.verdicts[i];
      v.segment = static_cast<int>(s);
      v.placed_on = on_npu ? "NPU" : g.nodes[i].is_foreign() ? "" : "CPU";
      if (!on_npu && npu_can[i]) SayWhyNotWorthIt(refusals[i], v);
    }
    segment.device = on_npu ? npu_index : cpu_index;
    out.segments.push_back(std::move(segment));
  }
  return out;
}

}  // namespace

Result<Partition> MakePartition(const ir::Graph& g, const target::Profile& profile,
                                const LoweringList& devices, Goal goal) {
  for (const ir::Node& n : g.nodes) {
    if (n.is_foreign())
      return Unsupported(Cat("node \"", Printable(n.name), "\": ", ir::WhyForeign(n).sentence));
  }
  NPUKIT_ASSIGN_OR_RETURN(Placed placed, AskPriceAndPlace(g, profile, devices, goal));
  return Partition{std::move(placed.segments), std::move(placed.verdicts)};
}

Result<std::vector<target::Verdict>> AskAndPlace(const ir::Graph& g, const target::Profile& profile,
                                                 const LoweringList& devices, Goal goal) {
  NPUKIT_ASSIGN_OR_RETURN(Placed placed, AskPriceAndPlace(g, profile, devices, goal));
  return std::move(placed.verdicts);
}

}  // namespace npukit::compile
