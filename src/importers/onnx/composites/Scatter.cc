#include "importers/onnx/source_op.h"

namespace npukit::importers::onnx {

// What ScatterElements was called before opset 11.
Result<Outcome> ImportScatter(Emitter& e) {
  NPUKIT_RETURN_IF_ERROR(
      e.Emit(op::scatter_elements, Only(e.op.attrs, {"axis"}), e.op.inputs, e.op.outputs[0]));
  return Outcome::Done();
}

}  // namespace npukit::importers::onnx
