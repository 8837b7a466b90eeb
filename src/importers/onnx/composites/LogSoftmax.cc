#include "importers/onnx/composites/log_softmax.h"

namespace npukit::importers::onnx {

// The logarithm of softmax would lose small probabilities.
Result<ir::ValueId> EmitLogSoftmax(Emitter& e, ir::ValueId x, std::int64_t axis,
                                   ir::ValueId output) {
  ops::Attrs along;
  along.Set("axes", ops::Ints{axis});
  NPUKIT_ASSIGN_OR_RETURN(const auto top, e.Emit(op::reduce_max, along, {x}));
  NPUKIT_ASSIGN_OR_RETURN(const auto below, e.Emit(op::sub, {}, {x, top}));
  NPUKIT_ASSIGN_OR_RETURN(const auto exp, e.Emit(op::exp, {}, {below}));
  NPUKIT_ASSIGN_OR_RETURN(const auto sum, e.Emit(op::reduce_sum, along, {exp}));
  NPUKIT_ASSIGN_OR_RETURN(const auto log, e.Emit(op::log, {}, {sum}));
  if (output == ir::kNoValue) return e.Emit(op::sub, {}, {below, log});
  NPUKIT_RETURN_IF_ERROR(e.Emit(op::sub, {}, {below, log}, output));
  return output;
}

Result<Outcome> ImportLogSoftmax(Emitter& e) {
  const std::int64_t axis = e.op.attrs.Int("axis", -1);
  NPUKIT_RETURN_IF_ERROR(EmitLogSoftmax(e, e.input(0), axis, e.op.outputs[0]).status());
  return Outcome::Done();
}

}  // namespace npukit::importers::onnx
