// A short way to build graphs: for tests, and for code that makes small graphs. A mistake aborts
// (it is ours).
//
//   Builder b;
//   ValueId x = b.Input("x", DType::kF32, {1, 3, 8, 8});
//   ValueId y = b.Op(op::relu, {b.Op(op::conv2d, {x, b.Floats("w", {4, 3, 1, 1}, weights)})});
//   Graph g = b.Finish({y});
#pragma once

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "ir/graph.h"

namespace npukit::ir {

class Builder {
 public:
  ValueId Input(std::string name, tensor::DType t, const tensor::Dims& dims) {
    return Input(std::move(name), tensor::Type::Tensor(t, dims));
  }
  ValueId Input(std::string name, tensor::Type type) {
    g_.inputs.push_back(g_.AddValue(std::move(name), std::move(type)));
    return g_.inputs.back();
  }
  ValueId Constant(std::string name, tensor::Value v) {
    return g_.AddConstant(std::move(name), std::move(v));
  }
  ValueId Floats(std::string name, tensor::Dims dims, const std::vector<float>& v) {
    return Constant(std::move(name),
                    tensor::Value::FromVector(tensor::DType::kF32, std::move(dims), v));
  }
  ValueId Ints(std::string name, const std::vector<std::int64_t>& v) {
    const tensor::Dims dims = {static_cast<std::int64_t>(v.size())};
    return Constant(std::move(name), tensor::Value::FromVector(tensor::DType::kI64, dims, v));
  }
  // Adds a node with one output and returns it. Each node also becomes a source node of its own.
  ValueId Op(const ops::OpDef& op, std::vector<ValueId> inputs, ops::Attrs attrs = {}) {
    const std::string name = Cat(op.name, "_", g_.nodes.size());
    Node n;
    n.op = &op;
    n.name = name;
    n.attrs = std::move(attrs);
    n.inputs = std::move(inputs);
    n.outputs = {g_.AddValue(name, {})};
    n.from = {static_cast<std::uint32_t>(g_.source_nodes.size())};
    g_.source_nodes.push_back(SourceNode{name, std::string(op.name)});
    const ValueId out = n.outputs[0];
    if (const auto r = g_.AddNode(std::move(n)); !r.ok()) {
      std::fprintf(stderr, "%s\n", r.status().message().c_str());
      NPUKIT_CHECK(r.ok());
    }
    return out;
  }
  Graph& graph() { return g_; }
  Graph Finish(std::vector<ValueId> outputs) {
    g_.outputs = std::move(outputs);
    const Status s = Verify(g_);
    if (!s.ok()) {
      std::fprintf(stderr, "%s\n", s.message().c_str());
      NPUKIT_CHECK(s.ok());
    }
    return std::move(g_);
  }

 private:
  Graph g_;
};

// Attributes in one expression: AttrsOf({{"axis", 1}, {"perm", Ints{0, 2, 1}}}).
inline ops::Attrs AttrsOf(std::vector<std::pair<std::string_view, ops::AttrValue>> items) {
  ops::Attrs a;
  for (auto& [name, value] : items) a.Set(name, std::move(value));
  return a;
}

}  // namespace npukit::ir
