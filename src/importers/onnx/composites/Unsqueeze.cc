#include "importers/onnx/source_op.h"

namespace npukit::importers::onnx {

Result<Outcome> ImportUnsqueeze(Emitter& e) {
  const Axes axes = ReadAxes(e, 1);
  if (!axes.known)
    return Outcome::Foreign("axes is not a constant", "export with axes that are constants");
  ops::Attrs attrs;
  if (axes.given) attrs.Set("axes", axes.values);
  NPUKIT_RETURN_IF_ERROR(e.Emit(op::unsqueeze, std::move(attrs), {e.input(0)}, e.op.outputs[0]));
  return Outcome::Done();
}

}  // namespace npukit::importers::onnx
