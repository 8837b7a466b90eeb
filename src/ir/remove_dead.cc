#include <utility>

#include "ir/graph.h"

namespace npukit::ir {

void RemoveDead(Graph& g) {
  std::vector<bool> live(g.values.size(), false);
  const auto mark = [&](ValueId id) {
    if (id != kNoValue) live[id] = true;
  };
  for (const ValueId id : g.outputs) mark(id);
  for (const State& s : g.states) mark(s.output);

  // Backwards, because nodes are in topological order: every reader is seen before what it reads.
  std::vector<bool> keep(g.nodes.size(), false);
  for (std::size_t i = g.nodes.size(); i-- > 0;) {
    for (const ValueId id : g.nodes[i].outputs) keep[i] = keep[i] || live[id];
    if (!keep[i]) continue;
    for (const ValueId id : g.nodes[i].inputs) mark(id);
    for (const ValueId id : g.nodes[i].outputs) mark(id);
  }
  for (const ValueId id : g.inputs) mark(id);  // part of the signature, read or not
  for (const State& s : g.states) mark(s.input);

  std::vector<Node> nodes;
  for (std::size_t i = 0; i < g.nodes.size(); ++i) {
    if (keep[i]) nodes.push_back(std::move(g.nodes[i]));
  }
  g.nodes = std::move(nodes);

  std::vector<ValueId> renamed(g.values.size(), kNoValue);
  std::vector<ValueInfo> values;
  for (std::size_t i = 0; i < g.values.size(); ++i) {
    if (!live[i]) continue;
    renamed[i] = static_cast<ValueId>(values.size());
    values.push_back(std::move(g.values[i]));
  }
  g.values = std::move(values);
  const auto rename = [&](ValueId& id) {
    if (id != kNoValue) id = renamed[id];
  };
  for (ValueId& id : g.inputs) rename(id);
  for (ValueId& id : g.outputs) rename(id);
  for (State& s : g.states) {
    rename(s.input);
    rename(s.output);
  }
  for (Node& n : g.nodes) {
    for (ValueId& id : n.inputs) rename(id);
    for (ValueId& id : n.outputs) rename(id);
  }
}

}  // namespace npukit::ir
