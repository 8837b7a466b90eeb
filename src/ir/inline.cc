#include "ir/inline.h"

#include "base/check.h"
#include "base/text.h"

namespace npukit::ir {

std::vector<Node> CopyNodes(Graph& g, const Graph& body, std::span<const ValueId> inputs,
                            std::span<const ValueId> outputs, const std::string& prefix,
                            const std::vector<std::uint32_t>& from) {
  NPUKIT_CHECK(inputs.size() == body.inputs.size() && outputs.size() == body.outputs.size());
  std::vector<ValueId> renamed(body.values.size(), kNoValue);
  for (std::size_t i = 0; i < inputs.size(); ++i) renamed[body.inputs[i]] = inputs[i];
  for (std::size_t i = 0; i < body.values.size(); ++i) {
    if (body.values[i].constant)
      renamed[i] = g.AddConstant(Cat(prefix, body.values[i].name), *body.values[i].constant);
  }
  // A result that a node makes is made under the name that the outside knows.
  std::vector<bool> made(body.values.size(), false);
  for (const Node& n : body.nodes) {
    for (const ValueId id : n.outputs) made[id] = true;
  }
  std::vector<bool> done(outputs.size(), false);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const ValueId id = body.outputs[i];
    done[i] = outputs[i] == kNoValue;
    if (done[i] || !made[id] || renamed[id] != kNoValue) continue;
    renamed[id] = outputs[i];
    done[i] = true;
  }
  const auto first_source = static_cast<std::uint32_t>(g.source_nodes.size());
  for (const SourceNode& s : body.source_nodes)
    g.source_nodes.push_back(SourceNode{Cat(prefix, s.name), s.op});
  std::vector<Node> nodes;
  for (const Node& n : body.nodes) {
    Node copy = n;
    copy.name = Cat(prefix, n.name);
    for (ValueId& id : copy.inputs) {
      if (id != kNoValue) id = renamed[id];
    }
    for (ValueId& id : copy.outputs) {
      if (renamed[id] == kNoValue)
        renamed[id] = g.AddValue(Cat(prefix, body.values[id].name), body.values[id].type);
      id = renamed[id];
    }
    for (std::uint32_t& f : copy.from) f += first_source;
    nodes.push_back(std::move(copy));
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (done[i]) continue;
    Node copy;
    copy.op = &op::identity;
    copy.name = g.value(outputs[i]).name;
    copy.inputs = {renamed[body.outputs[i]]};
    copy.outputs = {outputs[i]};
    copy.from = from;
    nodes.push_back(std::move(copy));
  }
  return nodes;
}

}  // namespace npukit::ir
