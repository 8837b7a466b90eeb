// Shape inference in node order. Besides types it follows *values* of small tensors (shape
// arithmetic: Shape, Slice, Concat,
// ... feeding Reshape or Resize), so that static input shapes make every later type static without
// changing the graph; turning those values into constants is the pass fold_constants.
#include <algorithm>

#include "base/text.h"
#include "ir/infer_control.h"
#include "ir/node.h"
#include "ops/evaluate.h"

namespace npukit::ir {
namespace {

// Shape arithmetic is tiny; anything larger is data, and evaluating it is not inference's business.
constexpr std::int64_t kMaxKnownElements = 1024;
constexpr std::size_t kMaxKnownStringBytes = 1 << 14;
constexpr std::size_t kMaxInputsNamed = 6;  // in a message

bool IsSmall(const tensor::Value& v) {
  if (!v.is_tensor() || v.count() > kMaxKnownElements) return false;
  if (v.dtype() != tensor::DType::kString) return true;
  std::size_t bytes = 0;
  for (const std::string& s : v.strings()) bytes += s.size();
  return bytes <= kMaxKnownStringBytes;
}

bool IsSmall(const tensor::Type& t) {
  if (!t.is_static() || t.dtype == tensor::DType::kString) return false;
  const auto count = tensor::ElementCount(t.dims());
  return count && *count <= kMaxKnownElements;
}

// The outputs' values when they follow from what is known; empty otherwise. Never fails: what
// cannot be known stays unknown.
std::vector<tensor::Value> KnownOutputs(const Graph& g, const Node& n,
                                        std::span<const tensor::Value* const> constants,
                                        double* work_left) {
  double work = 0;
  for (const ValueId id : n.outputs) {
    if (!IsSmall(g.value(id).type)) return {};
    work += static_cast<double>(*tensor::ElementCount(g.value(id).type.dims()));
  }
  std::vector<tensor::Value> inputs;
  for (std::size_t i = 0; i < n.inputs.size(); ++i) {
    if (n.inputs[i] == kNoValue) {
      inputs.emplace_back();
    } else if (constants[i]) {
      if (!IsSmall(*constants[i])) return {};
      work += static_cast<double>(constants[i]->count());
      inputs.push_back(*constants[i]);
    } else {
      std::optional<tensor::Value> dims;
      if (n.op->loop == ops::LoopShape::kShape) dims = ops::OnlyDims(g.value(n.inputs[i]).type);
      if (!dims) return {};
      inputs.push_back(std::move(*dims));
    }
  }
  const ops::OpCost cost = ops::Cost(*n.op, n.attrs, n.epilogue, g.InputTypes(n), g.OutputTypes(n));
  work += cost.macs + cost.vector_ops;
  if (!(work <= *work_left)) return {};
  *work_left -= work;
  auto outputs = EvaluateNode(n, inputs);
  if (!outputs.ok()) return {};
  for (const tensor::Value& v : *outputs) {
    if (!v.present() || !IsSmall(v)) return {};
  }
  return std::move(outputs).value();
}

// The refusal in the model's words: the node under its own name and operator, and what it reads.
Status Explained(const Graph& g, const Node& n, const Status& s) {
  const bool known = !n.from.empty() && n.from.back() < g.source_nodes.size();
  const std::string_view op = known ? g.source_nodes[n.from.back()].op : n.op_name();
  std::string_view what = s.message();
  if (what.starts_with(n.op->name) && what.substr(n.op->name.size()).starts_with(": "))
    what.remove_prefix(n.op->name.size() + 2);
  std::vector<std::string> inputs;
  for (std::size_t i = 0; i < n.inputs.size() && i < kMaxInputsNamed; ++i) {
    if (n.inputs[i] == kNoValue) continue;
    const ValueInfo& v = g.value(n.inputs[i]);
    inputs.push_back(Cat(i, " ", Printable(v.name, 60), " ", v.type.ToString()));
  }
  return Status(s.code(), Cat("node ", Printable(n.name), " (", Printable(op), "): ", what,
                              inputs.empty() ? "" : "; its inputs: ", Join(inputs, ", ")));
}

}  // namespace

tensor::Type KeepNames(tensor::Type inferred, const tensor::Type& old) {
  if (!inferred.is_tensor() || !old.is_tensor()) return inferred;
  if (inferred.dtype == tensor::DType::kUndefined) inferred.dtype = old.dtype;
  if (!inferred.shape || !old.shape || inferred.shape->rank() != old.shape->rank()) return inferred;
  for (std::size_t i = 0; i < inferred.shape->rank(); ++i) {
    tensor::Dim& d = inferred.shape->dims[i];
    if (!d.known() && d.symbol.empty() && !old.shape->dims[i].known()) d = old.shape->dims[i];
  }
  return inferred;
}

Status InferNode(Graph& g, const Node& n, std::span<const tensor::Value* const> constants) {
  if (n.op->control) {
    Node copy = n;  // its bodies are inferred anew by InferTypes
    Effort effort;
    const Status s = InferControl(g, copy, constants, effort, nullptr);
    return s.ok() ? s : s.WithContext(Describe(n));
  }
  const std::vector<tensor::Type> inputs = g.InputTypes(n);
  std::vector<tensor::Type> outputs(n.outputs.size());
  const Status s = ops::Infer(*n.op, n.attrs, n.epilogue, inputs, constants, outputs);
  if (!s.ok()) return Explained(g, n, s);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    tensor::Type& t = g.value(n.outputs[i]).type;
    t = KeepNames(std::move(outputs[i]), t);
  }
  return OkStatus();
}

Status InferGraph(Graph& g, std::span<const tensor::Value* const> known_inputs, Effort& effort,
                  std::vector<tensor::Value>* results) {
  std::vector<tensor::Value> known(g.values.size());
  for (std::size_t i = 0; i < std::min(known_inputs.size(), g.inputs.size()); ++i) {
    if (known_inputs[i] != nullptr && IsSmall(*known_inputs[i]))
      known[g.inputs[i]] = *known_inputs[i];
  }
  const auto value_of = [&](ValueId id) {
    const tensor::Value* v = g.constant(id);
    return !v && id != kNoValue && known[id].present() ? &known[id] : v;
  };
  std::vector<const tensor::Value*> constants;
  for (Node& n : g.nodes) {
    ++effort.nodes;
    if (n.is_foreign()) continue;
    constants.clear();
    for (const ValueId id : n.inputs) constants.push_back(value_of(id));
    std::vector<tensor::Value> values;
    if (n.op->control) {
      const Status s = InferControl(g, n, constants, effort, &values);
      if (!s.ok()) return s.WithContext(Describe(n));
    } else {
      NPUKIT_RETURN_IF_ERROR(InferNode(g, n, constants));
      values = KnownOutputs(g, n, constants, &effort.known_work);
    }
    for (std::size_t i = 0; i < values.size(); ++i) known[n.outputs[i]] = std::move(values[i]);
  }
  if (results == nullptr) return OkStatus();
  results->clear();
  for (const ValueId id : g.outputs) {
    const tensor::Value* v = value_of(id);
    results->push_back(v != nullptr && IsSmall(*v) ? *v : tensor::Value());
  }
  return OkStatus();
}

Status InferTypes(Graph& g) {
  Effort effort;
  return InferGraph(g, {}, effort, nullptr);
}

}  // namespace npukit::ir
