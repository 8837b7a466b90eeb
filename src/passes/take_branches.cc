#include "passes/take_branches.h"

#include "base/text.h"
#include "ir/control.h"
#include "ir/inline.h"

namespace npukit::passes {
namespace {

// Null where the condition is not known.
const tensor::Value* KnownCondition(const ir::Graph& g, const ir::Node& n) {
  if (n.op != &op::if_else || n.inputs.empty()) return nullptr;
  const tensor::Value* v = g.constant(n.inputs[0]);
  const bool one = v && v->is_tensor() && v->dtype() == tensor::DType::kBool && v->count() == 1;
  return one ? v : nullptr;
}

}  // namespace

Result<int> TakeBranches(ir::Graph& g) {
  int taken = 0;
  for (const ir::Node& n : g.nodes) taken += KnownCondition(g, n) != nullptr ? 1 : 0;
  if (taken == 0) return 0;
  std::vector<ir::Node> nodes;
  for (ir::Node& n : g.nodes) {
    const tensor::Value* cond = KnownCondition(g, n);
    if (cond == nullptr) {
      nodes.push_back(std::move(n));
      continue;
    }
    NPUKIT_ASSIGN_OR_RETURN(const ir::IfForm form, ir::ReadIf(n));
    const bool first = tensor::ElementAsInt64(*cond, 0) != 0;
    const ir::Graph& body = first ? *form.then_branch : *form.else_branch;
    for (ir::Node& copy : ir::CopyNodes(g, body, first ? form.then_captures : form.else_captures,
                                        n.outputs, Cat(n.name, "/"), n.from)) {
      nodes.push_back(std::move(copy));
    }
  }
  g.nodes = std::move(nodes);
  NPUKIT_RETURN_IF_ERROR(ir::InferTypes(g));
  return taken;
}

}  // namespace npukit::passes
