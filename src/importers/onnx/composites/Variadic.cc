// Operators that ONNX gives any number of inputs and npukit two: one after the other.
#include "importers/onnx/composites/scalars.h"

namespace npukit::importers::onnx {

namespace {

Result<Outcome> OneAfterTheOther(Emitter& e, const ops::OpDef& def) {
  if (e.op.inputs.empty()) return InvalidArgument("it has no input");
  if (e.op.inputs.size() == 1) {
    NPUKIT_RETURN_IF_ERROR(e.Emit(op::identity, {}, e.op.inputs, e.op.outputs[0]));
    return Outcome::Done();
  }
  ir::ValueId so_far = e.input(0);
  for (std::size_t i = 1; i + 1 < e.op.inputs.size(); ++i) {
    NPUKIT_ASSIGN_OR_RETURN(so_far, e.Emit(def, {}, {so_far, e.input(i)}));
  }
  NPUKIT_RETURN_IF_ERROR(e.Emit(def, {}, {so_far, e.op.inputs.back()}, e.op.outputs[0]));
  return Outcome::Done();
}

}  // namespace

Result<Outcome> ImportMax(Emitter& e) { return OneAfterTheOther(e, op::max); }
Result<Outcome> ImportMin(Emitter& e) { return OneAfterTheOther(e, op::min); }
Result<Outcome> ImportSum(Emitter& e) { return OneAfterTheOther(e, op::add); }

Result<Outcome> ImportMean(Emitter& e) {
  const std::size_t n = e.op.inputs.size();
  if (n < 2) return OneAfterTheOther(e, op::add);
  NPUKIT_ASSIGN_OR_RETURN(const auto divisor, ScalarLike(e, 0, static_cast<double>(n)));
  if (!divisor) return TypeNotKnown();
  ir::ValueId so_far = e.op.inputs[0];
  for (std::size_t i = 1; i < n; ++i) {
    NPUKIT_ASSIGN_OR_RETURN(so_far, e.Emit(op::add, {}, {so_far, e.op.inputs[i]}));
  }
  NPUKIT_RETURN_IF_ERROR(e.Emit(op::div, {}, {so_far, *divisor}, e.op.outputs[0]));
  return Outcome::Done();
}

}  // namespace npukit::importers::onnx
