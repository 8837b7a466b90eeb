#include "importers/onnx/composites/scalars.h"

namespace npukit::importers::onnx {

// x * sigmoid(alpha * x)
Result<Outcome> ImportSwish(Emitter& e) {
  const float alpha = e.op.attrs.Float("alpha", 1);
  if (alpha == 1) {
    NPUKIT_RETURN_IF_ERROR(e.Emit(op::swish, {}, e.op.inputs, e.op.outputs[0]));
    return Outcome::Done();
  }
  NPUKIT_ASSIGN_OR_RETURN(const auto factor, ScalarLike(e, 0, alpha));
  if (!factor) return TypeNotKnown();
  NPUKIT_ASSIGN_OR_RETURN(const auto scaled, e.Emit(op::mul, {}, {e.input(0), *factor}));
  NPUKIT_ASSIGN_OR_RETURN(const auto gate, e.Emit(op::sigmoid, {}, {scaled}));
  NPUKIT_RETURN_IF_ERROR(e.Emit(op::mul, {}, {e.input(0), gate}, e.op.outputs[0]));
  return Outcome::Done();
}

}  // namespace npukit::importers::onnx
