// Nodes whose inputs are all known become constants, and so do shapes of static values. Folded
// nodes vanish from `from`: the report counts them as folded. Exact: the folded bytes are what the
// reference gives.
#include "ir/node.h"
#include "passes/list.h"
#include "passes/rewrite.h"

namespace npukit::passes {
namespace {

constexpr std::uint64_t kMaxFoldedBytes = std::uint64_t{64} << 20;
constexpr double kMaxFoldedWork =
    2e9;  // multiply-accumulates plus elements: seconds for the reference

bool WorthFolding(const ir::Graph& g, const ir::Node& n) {
  std::uint64_t in = 0;
  for (const ir::ValueId id : n.inputs) {
    if (id != ir::kNoValue) in += g.value(id).type.bytes().value_or(0);
  }
  std::uint64_t out = 0;
  for (const ir::ValueId id : n.outputs) {
    const auto bytes = g.value(id).type.bytes();
    if (!bytes) return false;
    out += *bytes;
  }
  if (out > kMaxFoldedBytes && out > in) return false;
  const ops::OpCost cost = ops::Cost(*n.op, n.attrs, n.epilogue, g.InputTypes(n), g.OutputTypes(n));
  return cost.macs + cost.vector_ops <= kMaxFoldedWork;
}

// The node's input values where all are known; empty otherwise.
std::vector<tensor::Value> KnownInputs(const ir::Graph& g, const ir::Node& n) {
  std::vector<tensor::Value> inputs;
  for (const ir::ValueId id : n.inputs) {
    if (id == ir::kNoValue) {
      inputs.emplace_back();
    } else if (const tensor::Value* v = g.constant(id)) {
      inputs.push_back(*v);
    } else if (n.op->loop == ops::LoopShape::kShape && g.value(id).type.is_static()) {
      inputs.push_back(tensor::Value::Borrow(tensor::DType::kU8, g.value(id).type.dims(), nullptr));
    } else {
      return {};
    }
  }
  return inputs;
}

Status Run(ir::Graph& g, const target::Profile&, int* changes) {
  Rewriter rw(g);
  const ir::Uses uses(g);
  for (std::size_t slot = 0; slot < rw.slots(); ++slot) {
    const ir::Node& n = rw.node(slot);
    if (n.is_foreign() || !n.bodies.empty() || n.outputs.empty()) continue;
    // Types first: constants made by earlier slots may have made this node's static.
    std::vector<const tensor::Value*> constants;
    for (const ir::ValueId id : n.inputs) constants.push_back(g.constant(id));
    NPUKIT_RETURN_IF_ERROR(ir::InferNode(g, n, constants));
    // A graph's output keeps its node: a program has something to run, and the name stays.
    bool is_output = false;
    for (const ir::ValueId id : n.outputs) is_output = is_output || uses.is_output[id];
    if (is_output) continue;
    const std::vector<tensor::Value> inputs = KnownInputs(g, n);
    if (inputs.empty() || !WorthFolding(g, n)) continue;
    auto results = ir::EvaluateNode(n, inputs);
    if (!results.ok()) continue;  // stays in the graph and says why when it is lowered or run
    const std::vector<ir::ValueId> outputs = n.outputs;
    rw.Erase(slot);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      g.value(outputs[i]).type = (*results)[i].type();
      g.value(outputs[i]).constant = std::move((*results)[i]);
    }
    ++*changes;
  }
  rw.Finish();
  return OkStatus();
}

}  // namespace
}  // namespace npukit::passes

namespace npukit::pass {
constinit const passes::PassDef fold_constants = {
    .name = "fold_constants",
    .summary = "compute what is known before run time",
    .run = passes::Run};
constinit const passes::PassDef fold_constants_again = {
    .name = "fold_constants_again",
    .summary = "compute what layout and fusion made known",
    .run = passes::Run};
}  // namespace npukit::pass
