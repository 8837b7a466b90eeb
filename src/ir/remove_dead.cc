#include <utility>

#include "ir/control.h"
#include "ir/graph.h"

namespace npukit::ir {
namespace {

// Inputs `first`, `first + 1`, ... of the body that nothing in it reads are dropped, and so are the
// owner's inputs that fed them; `owner_first` feeds `first`. Returns how many stay.
std::size_t DropUnreadCaptures(Graph& body, std::size_t first, Node& owner,
                               std::size_t owner_first) {
  const Uses uses(body);
  std::size_t kept = 0;
  while (first + kept < body.inputs.size()) {
    const ValueId id = body.inputs[first + kept];
    if (!uses.readers[id].empty() || uses.is_output[id]) {
      ++kept;
      continue;
    }
    const auto at = static_cast<std::ptrdiff_t>(kept);
    body.inputs.erase(body.inputs.begin() + static_cast<std::ptrdiff_t>(first) + at);
    owner.inputs.erase(owner.inputs.begin() + static_cast<std::ptrdiff_t>(owner_first) + at);
  }
  return kept;
}

void RemoveDeadInBodies(Node& n) {
  for (auto& [name, body] : n.bodies) {
    if (body) RemoveDead(OwnBody(body));
  }
  if (n.op == nullptr || !n.op->control || !CheckControlForm(n).ok()) return;
  if (n.op == &op::if_else) {
    const std::size_t kept = DropUnreadCaptures(*n.bodies[0].second, 0, n, 1);
    DropUnreadCaptures(*n.bodies[1].second, 0, n, 1 + kept);
  } else if (n.op == &op::loop) {
    const auto first = 2 + static_cast<std::size_t>(n.attrs.Int("carried"));
    DropUnreadCaptures(*n.bodies[0].second, first, n, first);
  }
}

}  // namespace

void RemoveDead(Graph& g) {
  // Bodies first: what they no longer read, nothing here need make.
  for (Node& n : g.nodes) {
    if (!n.bodies.empty()) RemoveDeadInBodies(n);
  }
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
