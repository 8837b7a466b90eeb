#include "importers/onnx/source_op.h"

namespace npukit::importers::onnx {

// x * tanh(softplus(x))
Result<Outcome> ImportMish(Emitter& e) {
  NPUKIT_ASSIGN_OR_RETURN(const auto plus, e.Emit(op::softplus, {}, {e.input(0)}));
  NPUKIT_ASSIGN_OR_RETURN(const auto gate, e.Emit(op::tanh, {}, {plus}));
  NPUKIT_RETURN_IF_ERROR(e.Emit(op::mul, {}, {e.input(0), gate}, e.op.outputs[0]));
  return Outcome::Done();
}

}  // namespace npukit::importers::onnx
