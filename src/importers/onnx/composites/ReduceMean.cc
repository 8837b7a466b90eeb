#include "importers/onnx/source_op.h"

namespace npukit::importers::onnx {

Result<Outcome> ImportReduceMean(Emitter& e) {
  const Axes axes = ReadAxes(e, 1);
  if (!axes.known) return Outcome::Foreign("axes is not a constant");
  if (axes.values.empty() && e.op.attrs.Int("noop_with_empty_axes", 0) != 0) {
    NPUKIT_RETURN_IF_ERROR(e.Emit(op::identity, {}, {e.input(0)}, e.op.outputs[0]));
    return Outcome::Done();
  }
  ops::Attrs attrs = Only(e.op.attrs, {"keepdims"});
  if (!axes.values.empty()) attrs.Set("axes", axes.values);
  NPUKIT_RETURN_IF_ERROR(e.Emit(op::reduce_mean, std::move(attrs), {e.input(0)}, e.op.outputs[0]));
  return Outcome::Done();
}

}  // namespace npukit::importers::onnx
