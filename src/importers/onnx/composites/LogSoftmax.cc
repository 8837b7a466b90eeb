#include "importers/onnx/source_op.h"

namespace npukit::importers::onnx {

// x - max - log(sum(exp(x - max))): the logarithm of softmax would lose small probabilities.
Result<Outcome> ImportLogSoftmax(Emitter& e) {
  std::int64_t axis = e.op.attrs.Int("axis", e.op.opset < 13 ? 1 : -1);
  const auto rank = e.Rank(0);
  if (e.op.opset < 13 && (!rank || (axis != -1 && axis != static_cast<std::int64_t>(*rank) - 1))) {
    return Outcome::Foreign("log-softmax over several axes",
                            "convert the model to opset 13 or later");
  }
  ops::Attrs along;
  along.Set("axes", ops::Ints{axis});
  NPUKIT_ASSIGN_OR_RETURN(const auto top, e.Emit(op::reduce_max, along, {e.input(0)}));
  NPUKIT_ASSIGN_OR_RETURN(const auto below, e.Emit(op::sub, {}, {e.input(0), top}));
  NPUKIT_ASSIGN_OR_RETURN(const auto exp, e.Emit(op::exp, {}, {below}));
  NPUKIT_ASSIGN_OR_RETURN(const auto sum, e.Emit(op::reduce_sum, along, {exp}));
  NPUKIT_ASSIGN_OR_RETURN(const auto log, e.Emit(op::log, {}, {sum}));
  NPUKIT_RETURN_IF_ERROR(e.Emit(op::sub, {}, {below, log}, e.op.outputs[0]));
  return Outcome::Done();
}

}  // namespace npukit::importers::onnx
