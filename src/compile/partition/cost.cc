#include "compile/partition/cost.h"

#include <algorithm>

namespace npukit::compile {
namespace {

// The node and its values as a graph of their own: what one costs must not take longer to say in a
// large graph than in a small one.
ir::Graph Alone(const ir::Graph& g, const ir::Node& n, const std::vector<bool>& is_input) {
  ir::Graph alone;
  std::vector<ir::ValueId> seen;
  const auto rename = [&](ir::ValueId& v) {
    if (v == ir::kNoValue) return;
    const auto at = std::find(seen.begin(), seen.end(), v);
    const auto id = static_cast<ir::ValueId>(at - seen.begin());
    if (at == seen.end()) {
      seen.push_back(v);
      alone.values.push_back(g.value(v));
      if (is_input[v]) alone.inputs.push_back(id);
    }
    v = id;
  };
  ir::Node copy = n;
  copy.from.clear();
  for (ir::ValueId& v : copy.inputs) rename(v);
  for (ir::ValueId& v : copy.outputs) rename(v);
  alone.nodes.push_back(std::move(copy));
  return alone;
}

}  // namespace

Costs Price(const ir::Graph& g, const std::vector<bool>& npu_can, const Lowering* npu,
            const Lowering& cpu, const target::Profile& profile) {
  Costs c;
  c.npu_can = npu_can;
  c.npu_ns.assign(g.nodes.size(), 0);
  c.cpu_ns.assign(g.nodes.size(), 0);
  c.hand_over_ns.assign(g.values.size(), 0);
  if (npu == nullptr) return c;                       // nothing to weigh
  std::vector<bool> crosses(g.values.size(), false);  // only these can be handed over
  std::vector<bool> is_input(g.values.size(), false);
  for (ir::ValueId v : g.inputs) is_input[v] = true;
  for (std::size_t i = 0; i < g.nodes.size(); ++i) {
    if (!npu_can[i]) continue;
    const ir::Node& n = g.nodes[i];
    const ir::Graph alone = Alone(g, n, is_input);
    c.npu_ns[i] = npu->Cost(alone, alone.nodes[0], profile).time_ns;
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
