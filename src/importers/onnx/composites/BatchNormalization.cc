#include "importers/onnx/source_op.h"

namespace npukit::importers::onnx {

Result<Outcome> ImportBatchNormalization(Emitter& e) {
  if (e.op.attrs.Int("training_mode", 0) != 0 || e.op.outputs.size() != 1) {
    return Outcome::Foreign("training mode is not supported", "export with model.eval()");
  }
  NPUKIT_RETURN_IF_ERROR(
      e.Emit(op::batch_normalization, Only(e.op.attrs, {"epsilon"}), e.op.inputs, e.op.outputs[0]));
  return Outcome::Done();
}

}  // namespace npukit::importers::onnx
