#include "importers/onnx/composites/bodies.h"
#include "ir/control.h"

namespace npukit::importers::onnx {

// A branch of a condition that is known takes the node's place.
Result<Outcome> ImportIf(Emitter& e) {
  NPUKIT_ASSIGN_OR_RETURN(const Body then_branch, FindBody(e, ir::kThenBranch));
  NPUKIT_ASSIGN_OR_RETURN(const Body else_branch, FindBody(e, ir::kElseBranch));
  if (!e.has(0)) return InvalidArgument("cond (input 0) is absent");
  if (then_branch.declared + else_branch.declared != 0) {
    return InvalidArgument(Cat("its branches have ", then_branch.declared, " and ",
                               else_branch.declared, " inputs, expected none"));
  }
  const std::size_t count = then_branch.graph->outputs.size();
  if (else_branch.graph->outputs.size() != count || e.op.outputs.size() > count) {
    return InvalidArgument(Cat("expected as many outputs as each branch has, found ",
                               e.op.outputs.size(), ", then_branch has ", count, ", else_branch ",
                               else_branch.graph->outputs.size()));
  }
  const std::vector<ir::ValueId> outputs = AllOutputs(e, count);
  const tensor::Value* cond = e.Constant(0);
  if (cond != nullptr && cond->is_tensor() && cond->dtype() == tensor::DType::kBool &&
      cond->count() == 1) {
    const Body& taken = tensor::ElementAsInt64(*cond, 0) != 0 ? then_branch : else_branch;
    NPUKIT_RETURN_IF_ERROR(e.Splice(*taken.graph, taken.captures, outputs));
    return Outcome::Done();
  }
  std::vector<ir::ValueId> inputs = {e.input(0)};
  Append(&inputs, then_branch.captures);
  Append(&inputs, else_branch.captures);
  NPUKIT_RETURN_IF_ERROR(
      e.EmitAll(op::if_else, {}, std::move(inputs), outputs,
                {{ir::kThenBranch, then_branch.graph}, {ir::kElseBranch, else_branch.graph}}));
  return Outcome::Done();
}

}  // namespace npukit::importers::onnx
