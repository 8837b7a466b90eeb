#include "ir/graph.h"

#include <utility>

#include "base/text.h"
#include "ir/node.h"

namespace npukit::ir {

ValueId Graph::AddValue(std::string value_name, tensor::Type type) {
  NPUKIT_CHECK(values.size() < kNoValue);
  values.push_back(ValueInfo{std::move(value_name), std::move(type), std::nullopt});
  return static_cast<ValueId>(values.size() - 1);
}

ValueId Graph::AddConstant(std::string value_name, tensor::Value v) {
  const ValueId id = AddValue(std::move(value_name), v.type());
  values[id].constant = std::move(v);
  return id;
}

Result<std::size_t> Graph::AddNode(Node node) {
  for (const ValueId id : node.inputs) {
    if (id != kNoValue && id >= values.size()) {
      return InvalidArgument(
          Cat(Describe(node), ": no value ", id, " to read; there are ", values.size()));
    }
  }
  for (const ValueId id : node.outputs) {
    if (id >= values.size()) {
      return InvalidArgument(
          Cat(Describe(node), ": no value ", id, " to write; there are ", values.size()));
    }
  }
  if (!node.is_foreign()) {
    std::vector<const tensor::Value*> constants;
    for (const ValueId id : node.inputs) constants.push_back(constant(id));
    NPUKIT_RETURN_IF_ERROR(InferNode(*this, node, constants));
  }
  nodes.push_back(std::move(node));
  return nodes.size() - 1;
}

std::vector<tensor::Type> Graph::InputTypes(const Node& n) const {
  std::vector<tensor::Type> types;
  types.reserve(n.inputs.size());
  for (const ValueId id : n.inputs)
    types.push_back(id == kNoValue ? tensor::Type{} : values[id].type);
  return types;
}

std::vector<tensor::Type> Graph::OutputTypes(const Node& n) const {
  std::vector<tensor::Type> types;
  types.reserve(n.outputs.size());
  for (const ValueId id : n.outputs) types.push_back(values[id].type);
  return types;
}

Uses::Uses(const Graph& g)
    : producer(g.values.size(), -1), readers(g.values.size()), is_output(g.values.size(), false) {
  for (std::size_t i = 0; i < g.nodes.size(); ++i) {
    for (const ValueId id : g.nodes[i].outputs) producer[id] = static_cast<std::int32_t>(i);
    for (const ValueId id : g.nodes[i].inputs) {
      if (id != kNoValue) readers[id].push_back(static_cast<std::uint32_t>(i));
    }
  }
  for (const ValueId id : g.outputs) is_output[id] = true;
  for (const State& s : g.states) {
    if (s.output != kNoValue) is_output[s.output] = true;
  }
}

std::string Describe(const Node& n) {
  const std::string op = Printable(n.op_name());
  return n.name.empty() ? Cat("node ", op) : Cat("node ", Printable(n.name), " (", op, ")");
}

}  // namespace npukit::ir
