#include "importers/onnx/source_op.h"

namespace npukit::importers::onnx {

// In inference dropout does nothing.
Result<Outcome> ImportDropout(Emitter& e) {
  if (e.op.outputs.size() != 1) return Outcome::Foreign("the mask is read");
  if (e.has(2)) {
    const tensor::Value* training = e.Constant(2);
    const bool off = training != nullptr && training->is_tensor() && training->count() == 1 &&
                     training->dtype() == tensor::DType::kBool &&
                     tensor::ElementAsInt64(*training, 0) == 0;
    if (!off) return Outcome::Foreign("training_mode is not known to be off");
  }
  NPUKIT_RETURN_IF_ERROR(e.Emit(op::identity, {}, {e.input(0)}, e.op.outputs[0]));
  return Outcome::Done();
}

}  // namespace npukit::importers::onnx
