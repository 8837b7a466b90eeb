// A graph of operators: what importers make, passes change and compile places. Single-threaded: one
// owner at a time.
//
// Nodes are kept in topological order (verify checks it). A value is an id into `values`; a value
// with `constant` set is known at compile time and has no producer. Node and value names are the
// source model's, for messages; they need not be unique except graph inputs and outputs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "ops/op_def.h"
#include "tensor/type.h"
#include "tensor/value.h"

namespace npukit::ir {

using ValueId = std::uint32_t;
inline constexpr ValueId kNoValue = 0xFFFFFFFFu;  // an optional input that is not given

struct ValueInfo {
  std::string name;
  tensor::Type type;  // dtype undefined while unknown
  std::optional<tensor::Value>
      constant;  // shares bytes with the importer's mapped file where it can
};

class Graph;

struct Node {
  const ops::OpDef* op = nullptr;  // null: a foreign node, kept so that check can list it
  std::string foreign_domain;      // as the source file spells it
  std::string foreign_op;
  std::string name;
  ops::Attrs attrs;
  std::vector<ValueId> inputs;  // kNoValue for absent; epilogue operands come last
  std::vector<ValueId> outputs;
  std::vector<ops::EpilogueStep> epilogue;
  std::vector<std::pair<std::string, std::shared_ptr<Graph>>>
      bodies;                       // by attribute name: "then_branch", "body"
  std::vector<std::uint32_t> from;  // indices into Graph::source_nodes: what this node came from
  bool is_foreign() const { return op == nullptr; }
  std::string_view op_name() const { return op ? op->name : std::string_view(foreign_op); }
};

// A node of the imported file, in file order; `compute_units` counts these.
struct SourceNode {
  std::string name;  // given or made up: "Conv_12"
  std::string op;    // "Conv"
};

// Carried from one run to the next: a cache pair, a TFLite variable.
struct State {
  std::string name;
  tensor::Type type;
  std::optional<tensor::Value> initial;  // zeros when absent
  ValueId input = kNoValue;
  ValueId output = kNoValue;
};

class Graph {
 public:
  std::string name;
  std::vector<ValueInfo> values;
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  std::vector<State> states;
  std::vector<Node> nodes;
  std::vector<SourceNode> source_nodes;
  std::vector<std::pair<std::string, std::string>>
      metadata;  // producer, opsets, the model's own key/values

  ValueId AddValue(std::string name, tensor::Type type);
  ValueId AddConstant(std::string name, tensor::Value v);
  // Appends; output values get types from ops::Infer where possible. Returns the index in `nodes`.
  Result<std::size_t> AddNode(Node node);

  const ValueInfo& value(ValueId id) const { return values[id]; }
  ValueInfo& value(ValueId id) { return values[id]; }
  bool is_constant(ValueId id) const { return id != kNoValue && values[id].constant.has_value(); }
  const tensor::Value* constant(ValueId id) const {  // null when not constant or absent
    return is_constant(id) ? &*values[id].constant : nullptr;
  }
  std::vector<tensor::Type> InputTypes(const Node& n) const;  // absent: undefined dtype
  std::vector<tensor::Type> OutputTypes(const Node& n) const;
};

// Who makes and who reads each value; rebuilt after a change, never kept up to date by magic.
struct Uses {
  std::vector<std::int32_t> producer;               // node index, -1: input or constant
  std::vector<std::vector<std::uint32_t>> readers;  // node indices, once per use
  std::vector<bool> is_output;
  explicit Uses(const Graph& g);
};

// Structure: ids in range, single producer, topological order, arity, attributes, bodies. Names the
// node.
Status Verify(const Graph& g);
// Re-infers every node's output types from the inputs' (after --shape or a pass changed something).
// Foreign nodes keep what the file said. The message names the node, expected and found.
Status InferTypes(Graph& g);
// Drops nodes whose results nobody reads and values nobody uses (ids are renumbered).
void RemoveDead(Graph& g);

// Text, for tests, dumps and .case files; Parse(Print(g)) == g but for big constants, which print
// as a hash unless `full`.
std::string PrintText(const Graph& g, bool full_constants = false);
Result<Graph> ParseText(std::string_view text);

}  // namespace npukit::ir
