// What the operators that own graphs share: finding a body with what it captures, and rebuilding it
// into the body of a loop.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "importers/onnx/source_op.h"

namespace npukit::importers::onnx {

struct Body {
  std::shared_ptr<ir::Graph> graph;
  std::size_t declared = 0;           // inputs in the file; captures come behind them
  std::vector<ir::ValueId> captures;  // in the graph around it
};

inline Result<Body> FindBody(const Emitter& e, std::string_view name) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < e.op.bodies.size(); ++i) {
    const std::size_t count = e.op.captured[i];
    if (e.op.bodies[i].first == name) {
      Body b{e.op.bodies[i].second, 0, {}};
      const auto from = e.op.captures.begin() + static_cast<std::ptrdiff_t>(at);
      b.captures.assign(from, from + static_cast<std::ptrdiff_t>(count));
      b.declared = b.graph->inputs.size() - count;
      return b;
    }
    at += count;
  }
  return InvalidArgument(Cat("attribute ", name, " is missing: it holds the graph to run"));
}

// Adds nodes to a body, before its own or behind them. Their types follow when the owner is
// inferred.
class BodyBuilder {
 public:
  BodyBuilder(ir::Graph& g, std::string name) : g_(g), name_(std::move(name)) {}

  ir::ValueId Value(tensor::Type type = {}) { return g_.AddValue(name_, std::move(type)); }
  ir::ValueId Int64s(tensor::Dims dims, const std::vector<std::int64_t>& v) {
    return g_.AddConstant(name_,
                          tensor::Value::FromVector(tensor::DType::kI64, std::move(dims), v));
  }
  ir::ValueId Iteration() {
    return Value(tensor::Type::Tensor(tensor::DType::kI64, tensor::Dims{}));
  }
  ir::ValueId Condition() {
    return Value(tensor::Type::Tensor(tensor::DType::kBool, tensor::Dims{}));
  }
  void Before(const ops::OpDef& op, std::vector<ir::ValueId> inputs, ir::ValueId output,
              ops::Attrs attrs = {}) {
    before_.push_back(Make(op, std::move(inputs), {output}, std::move(attrs)));
  }
  ir::ValueId Behind(const ops::OpDef& op, std::vector<ir::ValueId> inputs, ops::Attrs attrs = {}) {
    const ir::ValueId output = Value();
    g_.nodes.push_back(Make(op, std::move(inputs), {output}, std::move(attrs)));
    return output;
  }
  void Finish() {
    g_.nodes.insert(g_.nodes.begin(), std::make_move_iterator(before_.begin()),
                    std::make_move_iterator(before_.end()));
    before_.clear();
  }

 private:
  ir::Node Make(const ops::OpDef& op, std::vector<ir::ValueId> inputs,
                std::vector<ir::ValueId> outputs, ops::Attrs attrs) const {
    ir::Node n;
    n.op = &op;
    n.name = name_;
    n.attrs = std::move(attrs);
    n.inputs = std::move(inputs);
    n.outputs = std::move(outputs);
    return n;
  }

  ir::Graph& g_;
  std::string name_;
  std::vector<ir::Node> before_;
};

// Outputs that nobody reads were dropped: the node makes them all the same.
inline std::vector<ir::ValueId> AllOutputs(Emitter& e, std::size_t count) {
  std::vector<ir::ValueId> outputs = e.op.outputs;
  while (outputs.size() < count) outputs.push_back(e.Fresh());
  return outputs;
}

inline ops::Attrs OneInt(std::string_view name, std::int64_t v) {
  ops::Attrs a;
  a.Set(name, v);
  return a;
}

template <class T>
void Append(std::vector<T>* to, const std::vector<T>& more) {
  to->insert(to->end(), more.begin(), more.end());
}

}  // namespace npukit::importers::onnx
