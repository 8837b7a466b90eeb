// Shape inference in node order. Besides types it follows *values* of small tensors (shape
// arithmetic: Shape, Slice, Concat,
// ... feeding Reshape or Resize), so that static input shapes make every later type static without
// changing the graph; turning those values into constants is the pass fold_constants.
#include "ir/node.h"

namespace npukit::ir {
namespace {

// Shape arithmetic is tiny; anything larger is data, and evaluating it is not inference's business.
constexpr std::int64_t kMaxKnownElements = 1024;

bool IsSmall(const tensor::Value& v) { return v.is_tensor() && v.count() <= kMaxKnownElements; }

bool IsSmall(const tensor::Type& t) {
  if (!t.is_static() || t.dtype == tensor::DType::kString) return false;
  const auto count = tensor::ElementCount(t.dims());
  return count && *count <= kMaxKnownElements;
}

// The inferred type, with what it leaves open and claims no numbers taken from the old one: the
// file's names for sizes.
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

// The outputs' values when they follow from what is known; empty otherwise. Never fails: what
// cannot be known stays unknown.
std::vector<tensor::Value> KnownOutputs(const Graph& g, const Node& n,
                                        std::span<const tensor::Value* const> constants) {
  for (const ValueId id : n.outputs) {
    if (!IsSmall(g.value(id).type)) return {};
  }
  std::vector<tensor::Value> inputs;
  for (std::size_t i = 0; i < n.inputs.size(); ++i) {
    if (n.inputs[i] == kNoValue) {
      inputs.emplace_back();
    } else if (constants[i]) {
      if (!IsSmall(*constants[i])) return {};
      inputs.push_back(*constants[i]);
    } else if (n.op->loop == ops::LoopShape::kShape && g.value(n.inputs[i]).type.is_static()) {
      // Only the dims are read, so there are no bytes behind it and the element type does not
      // matter.
      inputs.push_back(
          tensor::Value::Borrow(tensor::DType::kU8, g.value(n.inputs[i]).type.dims(), nullptr));
    } else {
      return {};
    }
  }
  auto outputs = EvaluateNode(n, inputs);
  if (!outputs.ok()) return {};
  for (const tensor::Value& v : *outputs) {
    if (!v.present() || !IsSmall(v)) return {};
  }
  return std::move(outputs).value();
}

}  // namespace

Status InferNode(Graph& g, const Node& n, std::span<const tensor::Value* const> constants) {
  const std::vector<tensor::Type> inputs = g.InputTypes(n);
  std::vector<tensor::Type> outputs(n.outputs.size());
  const Status s = ops::Infer(*n.op, n.attrs, n.epilogue, inputs, constants, outputs);
  if (!s.ok()) return s.WithContext(Describe(n));
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    tensor::Type& t = g.value(n.outputs[i]).type;
    t = KeepNames(std::move(outputs[i]), t);
  }
  return OkStatus();
}

Status InferTypes(Graph& g) {
  std::vector<tensor::Value> known(g.values.size());
  std::vector<const tensor::Value*> constants;
  for (const Node& n : g.nodes) {
    if (n.is_foreign()) continue;
    constants.clear();
    for (const ValueId id : n.inputs) {
      const tensor::Value* v = g.constant(id);
      if (!v && id != kNoValue && known[id].present()) v = &known[id];
      constants.push_back(v);
    }
    NPUKIT_RETURN_IF_ERROR(InferNode(g, n, constants));
    std::vector<tensor::Value> values = KnownOutputs(g, n, constants);
    for (std::size_t i = 0; i < values.size(); ++i) known[n.outputs[i]] = std::move(values[i]);
  }
  return OkStatus();
}

}  // namespace npukit::ir
