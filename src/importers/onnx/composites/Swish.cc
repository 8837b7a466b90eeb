#include "importers/onnx/source_op.h"

namespace npukit::importers::onnx {

Result<Outcome> ImportSwish(Emitter& e) {
  if (e.op.attrs.Float("alpha", 1) != 1)
    return Outcome::Foreign("alpha other than 1 is not supported");
  NPUKIT_RETURN_IF_ERROR(e.Emit(op::swish, {}, e.op.inputs, e.op.outputs[0]));
  return Outcome::Done();
}

}  // namespace npukit::importers::onnx
