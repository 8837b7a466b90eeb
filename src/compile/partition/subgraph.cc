#include "compile/partition/subgraph.h"

#include <unordered_map>

namespace npukit::compile {

Subgraph CutOut(const ir::Graph& g, const ir::Uses& uses, const std::vector<std::uint32_t>& nodes,
                std::vector<bool>& inside) {
  Subgraph s;
  s.graph.name = g.name;
  for (std::uint32_t n : nodes) inside[n] = true;
  std::unordered_map<ir::ValueId, ir::ValueId> renamed;
  const auto rename = [&](ir::ValueId v) {
    if (v == ir::kNoValue) return v;
    const auto [it, fresh] =
        renamed.try_emplace(v, static_cast<ir::ValueId>(s.graph.values.size()));
    if (fresh) s.graph.values.push_back(g.value(v));
    return it->second;
  };
  for (std::uint32_t i : nodes) {
    ir::Node n = g.nodes[i];
    for (ir::ValueId& v : n.inputs) {
      const bool seen = v == ir::kNoValue || renamed.contains(v);
      const ir::ValueId outer = v;
      v = rename(v);
      if (!seen && !g.is_constant(outer)) {  // not made here before: it comes from outside
        s.inputs.push_back(outer);
        s.graph.inputs.push_back(v);
      }
    }
    for (ir::ValueId& v : n.outputs) {
      if (v == ir::kNoValue) continue;
      bool leaves = uses.is_output[v];
      for (std::uint32_t r : uses.readers[v]) leaves = leaves || !inside[r];
      const ir::ValueId outer = v;
      v = rename(v);
      if (leaves) {
        s.outputs.push_back(outer);
        s.graph.outputs.push_back(v);
      }
    }
    n.from.clear();  // speaks of the whole graph's source nodes
    s.graph.nodes.push_back(std::move(n));
  }
  for (std::uint32_t n : nodes) inside[n] = false;
  return s;
}

}  // namespace npukit::compile
