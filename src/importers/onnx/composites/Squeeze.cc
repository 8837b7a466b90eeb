#include "importers/onnx/source_op.h"

namespace npukit::importers::onnx {

// Axes that are not constants stay an input.
Result<Outcome> ImportSqueeze(Emitter& e) {
  const Axes axes = ReadAxes(e, 1);
  ops::Attrs attrs;
  if (axes.given && axes.known) attrs.Set("axes", axes.values);
  NPUKIT_RETURN_IF_ERROR(e.Emit(op::squeeze, std::move(attrs),
                                {e.input(0), axes.known ? ir::kNoValue : e.input(1)},
                                e.op.outputs[0]));
  return Outcome::Done();
}

}  // namespace npukit::importers::onnx
