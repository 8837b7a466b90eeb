// The structure that every reader of a graph relies on, checked in one walk: ids, single producer,
// order, arity, attributes, epilogues, bodies.
#include "base/text.h"
#include "ir/control.h"
#include "ir/node.h"

namespace npukit::ir {
namespace {

std::string ValueText(const Graph& g, ValueId id) {
  return id < g.values.size() ? Cat("value ", id, " '", Printable(g.values[id].name), "'")
                              : Cat("value ", id);
}

bool MayCarryEpilogue(const ops::OpDef* op) {
  return op == &op::conv2d || op == &op::conv_transpose2d || op == &op::matmul || op == &op::chain;
}

Status VerifyEpilogue(const Node& n) {
  if (!n.epilogue.empty() && !MayCarryEpilogue(n.op)) {
    return Internal(
        Cat("an epilogue hangs on an operator that cannot carry one; only conv2d, "
            "conv_transpose2d, matmul and chain can"));
  }
  for (const ops::EpilogueStep& step : n.epilogue) {
    if (!step.op) return Internal("an epilogue step without operator");
    const bool binary = step.op->loop == ops::LoopShape::kBinary;
    if (!binary && step.op->loop != ops::LoopShape::kUnary) {
      return Internal(Cat("epilogue step ", step.op->name, " is not elementwise"));
    }
    if (!binary) {
      if (step.operand != -1)
        return Internal(Cat("unary epilogue step ", step.op->name, " has an operand"));
    } else {
      const auto at = static_cast<std::size_t>(step.operand);
      if (step.operand < 1 || at >= n.inputs.size() || n.inputs[at] == kNoValue) {
        return Internal(Cat("epilogue step ", step.op->name, " reads input ", step.operand,
                            ", found ", n.inputs.size(), " inputs"));
      }
    }
    if (const Status s = ops::CheckAttrs(*step.op, step.attrs); !s.ok()) {
      return s.WithContext(Cat("epilogue step ", step.op->name));
    }
  }
  return OkStatus();
}

Status VerifyOperator(const Node& n) {
  NPUKIT_RETURN_IF_ERROR(VerifyEpilogue(n));
  NPUKIT_ASSIGN_OR_RETURN(const std::size_t own, ops::OwnInputCount(n.epilogue, n.inputs.size()));
  const auto least = static_cast<std::size_t>(n.op->min_inputs);
  if (own < least || (n.op->max_inputs >= 0 && own > static_cast<std::size_t>(n.op->max_inputs))) {
    const std::string most = n.op->max_inputs < 0 ? "any number" : Cat(n.op->max_inputs);
    return InvalidArgument(
        Cat("expected ", n.op->min_inputs, " to ", most, " inputs, found ", own));
  }
  for (std::size_t i = 0; i < least; ++i) {
    if (n.inputs[i] == kNoValue)
      return InvalidArgument(Cat("input ", i, " is required and absent"));
  }
  if (n.op->outputs >= 0 && n.outputs.size() != static_cast<std::size_t>(n.op->outputs)) {
    return InvalidArgument(Cat("expected ", n.op->outputs, " outputs, found ", n.outputs.size()));
  }
  NPUKIT_RETURN_IF_ERROR(ops::CheckAttrs(*n.op, n.attrs));
  return CheckControlForm(n);
}

Status VerifyAtDepth(const Graph& g, int depth);

class Walk {
 public:
  explicit Walk(const Graph& g) : g_(g), defined_(g.values.size(), false) {}

  Status Sources() {
    for (const ValueId id : g_.inputs) NPUKIT_RETURN_IF_ERROR(Define(id, "graph input"));
    for (const State& s : g_.states) {
      // A state may also be listed among the inputs, where a caller sees it.
      if (s.input < g_.values.size() && defined_[s.input]) continue;
      NPUKIT_RETURN_IF_ERROR(Define(s.input, Cat("state ", Printable(s.name))));
    }
    for (std::size_t i = 0; i < g_.values.size(); ++i) {
      if (!g_.values[i].constant) continue;
      const auto id = static_cast<ValueId>(i);
      NPUKIT_RETURN_IF_ERROR(Define(id, "constant"));
      if (!(g_.values[i].type == g_.values[i].constant->type())) {
        return Internal(Cat(ValueText(g_, id), ": type ", g_.values[i].type.ToString(),
                            ", but its constant is ", g_.values[i].constant->type().ToString()));
      }
    }
    return OkStatus();
  }

  Status Visit(const Node& n, int depth) {
    for (const ValueId id : n.inputs) {
      if (id == kNoValue) continue;
      NPUKIT_RETURN_IF_ERROR(Read(id));
    }
    if (!n.is_foreign()) NPUKIT_RETURN_IF_ERROR(VerifyOperator(n));
    for (const std::uint32_t f : n.from) {
      if (f >= g_.source_nodes.size()) {
        return Internal(Cat("comes from source node ", f, "; there are ", g_.source_nodes.size()));
      }
    }
    for (const auto& [name, body] : n.bodies) {
      if (!body) return Internal(Cat("body ", Printable(name), " is missing"));
      if (const Status s = VerifyAtDepth(*body, depth + 1); !s.ok())
        return s.WithContext(Cat("body ", Printable(name)));
    }
    for (const ValueId id : n.outputs) NPUKIT_RETURN_IF_ERROR(Define(id, "output"));
    return OkStatus();
  }

  Status Sinks() const {
    for (const ValueId id : g_.outputs) {
      if (const Status s = Read(id); !s.ok()) return s.WithContext("graph output");
    }
    for (const State& st : g_.states) {
      if (const Status s = Read(st.output); !s.ok())
        return s.WithContext(Cat("state ", Printable(st.name)));
    }
    return OkStatus();
  }

 private:
  Status Define(ValueId id, std::string_view as) {
    if (id >= g_.values.size()) return InvalidArgument(Cat(as, ": no ", ValueText(g_, id)));
    if (defined_[id]) return InvalidArgument(Cat(as, ": ", ValueText(g_, id), " is made twice"));
    defined_[id] = true;
    return OkStatus();
  }
  Status Read(ValueId id) const {
    if (id >= g_.values.size())
      return InvalidArgument(Cat("reads ", ValueText(g_, id), "; there are ", g_.values.size()));
    if (!defined_[id])
      return InvalidArgument(Cat("reads ", ValueText(g_, id), ", which nothing before it makes"));
    return OkStatus();
  }

  const Graph& g_;
  std::vector<bool> defined_;
};

Status VerifyAtDepth(const Graph& g, int depth) {
  if (depth > kMaxBodyDepth)
    return ResourceExhausted(Cat("graphs nested deeper than ", kMaxBodyDepth));
  Walk walk(g);
  NPUKIT_RETURN_IF_ERROR(walk.Sources());
  for (const Node& n : g.nodes) {
    if (const Status s = walk.Visit(n, depth); !s.ok()) return s.WithContext(Describe(n));
  }
  return walk.Sinks();
}

}  // namespace

Status Verify(const Graph& g) { return VerifyAtDepth(g, 0); }

}  // namespace npukit::ir
