#include "base/text.h"
#include "importers/onnx/source_op.h"

namespace npukit::importers::onnx {

Result<Outcome> ImportLayerNormalization(Emitter& e) {
  if (e.op.outputs.size() != 1) {
    return Outcome::Foreign("mean or deviation are read",
                            "export without them: they are for training");
  }
  ops::Attrs attrs = Only(e.op.attrs, {"axis", "epsilon"});  // stash_type: npukit computes in fp32
  NPUKIT_RETURN_IF_ERROR(
      e.Emit(op::layer_normalization, std::move(attrs), e.op.inputs, e.op.outputs[0]));
  return Outcome::Done();
}

}  // namespace npukit::importers::onnx
