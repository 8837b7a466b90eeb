#include "compile/partition/cost.h"

namespace npukit::compile {

Costs Price(const ir::Graph& g, const std::vector<bool>& npu_can, const Lowering* npu,
            const Lowering& cpu, const target::Profile& profile) {
  Costs c;
  c.npu_can = npu_can;
  c.npu_ns.assign(g.nodes.size(), 0);
  c.cpu_ns.assign(g.nodes.size(), 0);
  c.hand_over_ns.assign(g.values.size(), 0);
  if (npu == nullptr) return c;                       // nothing to weigh
  std::vector<bool> crosses(g.values.size(), false);  // only these can be handed over
  for (std::size_t i = 0; i < g.nodes.size(); ++i) {
    if (!npu_can[i]) continue;
    const ir::Node& n = g.nodes[i];
    c.npu_ns[i] = npu->Cost(g, n, profile).time_ns;
    c.cpu_ns[i] = cpu.Cost(g, n, profile).time_ns;
    for (ir::ValueId v : n.inputs) {
      if (v != ir::kNoValue && !g.is_constant(v)) crosses[v] = true;
    }
    for (ir::ValueId v : n.outputs) {
      if (v != ir::kNoValue) crosses[v] = true;
    }
  }
  for (std::size_t v = 0; v < g.values.size(); ++v) {
    if (crosses[v]) c.hand_over_ns[v] = npu->BoundaryCost(g.values[v].type, profile).time_ns;
  }
  c.launch_ns = profile.NumberOr("npu.inference_fixed_us", 0) * 1e3;
  return c;
}

}  // namespace npukit::compile
