#include "eval/interpret.h"

#include <cstring>

#include "base/text.h"
#include "eval/graph_run.h"
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
  if (info.type.kind == tensor::Type::Kind::kOptional) return OkStatus();  // or what it may hold
  if (!info.type.is_tensor()) return v.is_sequence() ? OkStatus() : wrong();
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

GraphRun::GraphRun(const ir::Graph& g)
    : g_(g), constants_(g.values.size()), uses_(g.values.size(), 0) {
  for (std::size_t i = 0; i < g.values.size(); ++i) {
    if (g.values[i].constant) constants_[i] = *g.values[i].constant;
  }
  for (const ir::Node& n : g.nodes) {
    for (const ir::ValueId id : n.inputs) {
      if (id != ir::kNoValue) ++uses_[id];
    }
  }
  for (const ir::ValueId id : g.outputs) ++uses_[id];
}

Result<std::vector<tensor::Value>> GraphRun::Run(std::span<const tensor::Value> inputs,
                                                 const Tap& tap, LoopBudget& budget) const {
  std::vector<tensor::Value> values = constants_;
  // A value's memory goes back after its last reader; outputs are kept.
  std::vector<std::uint32_t> uses_left = uses_;
  for (const ir::State& s : g_.states) {
    NPUKIT_ASSIGN_OR_RETURN(values[s.input], InitialState(s));
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    values[g_.inputs[i]] = inputs[i];
    if (tap) tap(g_.inputs[i], inputs[i]);
  }
  std::vector<tensor::Value> node_inputs;
  for (const ir::Node& n : g_.nodes) {
    node_inputs.clear();
    for (const ir::ValueId id : n.inputs)
      node_inputs.push_back(id == ir::kNoValue ? tensor::Value() : values[id]);
    const bool control = !n.is_foreign() && n.op->control;
    auto results = control ? RunControl(n, node_inputs, budget) : ir::EvaluateNode(n, node_inputs);
    if (!results.ok()) {
      return control ? results.status().WithContext(ir::Describe(n)) : results.status();
    }
    for (std::size_t i = 0; i < results->size(); ++i) {
      if (tap) tap(n.outputs[i], (*results)[i]);
      if (uses_left[n.outputs[i]] > 0) values[n.outputs[i]] = std::move((*results)[i]);
    }
    for (const ir::ValueId id : n.inputs) {
      if (id != ir::kNoValue && --uses_left[id] == 0) values[id] = tensor::Value();
    }
  }
  std::vector<tensor::Value> outputs;
  outputs.reserve(g_.outputs.size());
  for (const ir::ValueId id : g_.outputs) outputs.push_back(values[id]);
  return outputs;
}

Result<std::vector<tensor::Value>> Interpret(const ir::Graph& g,
                                             std::span<const tensor::Value> inputs, const Tap& tap,
                                             const InterpretOptions& options) {
  if (inputs.size() != g.inputs.size()) {
    return InvalidArgument(Cat("expected ", g.inputs.size(), " inputs, found ", inputs.size()));
  }
  for (std::size_t i = 0; i < inputs.size(); ++i)
    NPUKIT_RETURN_IF_ERROR(CheckInput(g.value(g.inputs[i]), inputs[i]));
  LoopBudget budget{options.max_iterations, options.max_iterations};
  return GraphRun(g).Run(inputs, tap, budget);
}

Result<std::vector<tensor::Value>> Interpreter::Run(const ir::Graph& g,
                                                    std::span<const tensor::Value> inputs,
                                                    const Tap& tap) {
  return Interpret(g, inputs, tap);
}

}  // namespace npukit::eval
