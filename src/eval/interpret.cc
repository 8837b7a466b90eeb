#include "eval/interpret.h"

#include <cstring>

#include "base/text.h"
#include "ir/node.h"

namespace npukit::eval {
namespace {

Status CheckInput(const ir::ValueInfo& info, const tensor::Value& v) {
  const auto wrong = [&] {
    return InvalidArgument(Cat("input ", Printable(info.name), ": expected ", info.type.ToString(),
                               ", found ",
                               v.present() ? v.type().ToString() : std::string("nothing")));
  };
  if (!v.present()) return wrong();
  if (!info.type.is_tensor()) return v.is_tensor() ? wrong() : OkStatus();
  if (!v.is_tensor()) return wrong();
  if (info.type.dtype != tensor::DType::kUndefined && v.dtype() != info.type.dtype) return wrong();
  if (!info.type.shape) return OkStatus();
  const std::vector<tensor::Dim>& dims = info.type.shape->dims;
  if (dims.size() != v.dims().size()) return wrong();
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i].known() && dims[i].value != v.dims()[i]) return wrong();
  }
  return OkStatus();
}

Result<tensor::Value> InitialState(const ir::State& s) {
  if (s.initial) return *s.initial;
  if (!s.type.is_static() || s.type.dtype == tensor::DType::kString) {
    return Unsupported(Cat("state ", Printable(s.name),
                           ": no initial value and no fixed size, found ", s.type.ToString()));
  }
  NPUKIT_ASSIGN_OR_RETURN(tensor::Value v, tensor::Value::Allocate(s.type.dtype, s.type.dims()));
  if (v.byte_size() > 0) std::memset(v.mutable_data(), 0, v.byte_size());
  return v;
}

}  // namespace

Result<std::vector<tensor::Value>> Interpret(const ir::Graph& g,
                                             std::span<const tensor::Value> inputs,
                                             const Tap& tap) {
  if (inputs.size() != g.inputs.size()) {
    return InvalidArgument(Cat("expected ", g.inputs.size(), " inputs, found ", inputs.size()));
  }
  std::vector<tensor::Value> values(g.values.size());
  for (std::size_t i = 0; i < g.values.size(); ++i) {
    if (g.values[i].constant) values[i] = *g.values[i].constant;
  }
  for (const ir::State& s : g.states) {
    NPUKIT_ASSIGN_OR_RETURN(values[s.input], InitialState(s));
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    NPUKIT_RETURN_IF_ERROR(CheckInput(g.value(g.inputs[i]), inputs[i]));
    values[g.inputs[i]] = inputs[i];
    if (tap) tap(g.inputs[i], inputs[i]);
  }

  // A value's memory goes back after its last reader; outputs are kept.
  std::vector<std::size_t> uses_left(g.values.size(), 0);
  for (const ir::Node& n : g.nodes) {
    for (const ir::ValueId id : n.inputs) {
      if (id != ir::kNoValue) ++uses_left[id];
    }
  }
  for (const ir::ValueId id : g.outputs) ++uses_left[id];

  std::vector<tensor::Value> node_inputs;
  for (const ir::Node& n : g.nodes) {
    node_inputs.clear();
    for (const ir::ValueId id : n.inputs)
      node_inputs.push_back(id == ir::kNoValue ? tensor::Value() : values[id]);
    NPUKIT_ASSIGN_OR_RETURN(std::vector<tensor::Value> results, ir::EvaluateNode(n, node_inputs));
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (tap) tap(n.outputs[i], results[i]);
      if (uses_left[n.outputs[i]] > 0) values[n.outputs[i]] = std::move(results[i]);
    }
    for (const ir::ValueId id : n.inputs) {
      if (id != ir::kNoValue && --uses_left[id] == 0) values[id] = tensor::Value();
    }
  }
  std::vector<tensor::Value> outputs;
  for (const ir::ValueId id : g.outputs) outputs.push_back(values[id]);
  return outputs;
}

Result<std::vector<tensor::Value>> Interpreter::Run(const ir::Graph& g,
                                                    std::span<const tensor::Value> inputs,
                                                    const Tap& tap) {
  return Interpret(g, inputs, tap);
}

}  // namespace npukit::eval
