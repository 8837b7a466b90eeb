#include "importers/onnx/composites/scalars.h"

namespace npukit::importers::onnx {

// (x - mean) / (sqrt(mean((x - mean)^2)) + 1e-9): the differences are squared, not x, so that a
// large mean does not eat the variance.
Result<Outcome> ImportMeanVarianceNormalization(Emitter& e) {
  // 1e-9 is 0 in fp16, and a channel of equal numbers would be 0 / 0.
  const bool half = e.has(0) && e.Type(0).dtype == tensor::DType::kF16;
  NPUKIT_ASSIGN_OR_RETURN(const auto least, ScalarLike(e, 0, half ? 0x1p-24 : 1e-9));
  if (!least) return TypeNotKnown();
  ops::Attrs along;
  along.Set("axes", e.op.attrs.IntList("axes", {0, 2, 3}));
  NPUKIT_ASSIGN_OR_RETURN(const auto mean, e.Emit(op::reduce_mean, along, {e.input(0)}));
  NPUKIT_ASSIGN_OR_RETURN(const auto centred, e.Emit(op::sub, {}, {e.input(0), mean}));
  NPUKIT_ASSIGN_OR_RETURN(const auto squares, e.Emit(op::mul, {}, {centred, centred}));
  NPUKIT_ASSIGN_OR_RETURN(const auto variance, e.Emit(op::reduce_mean, along, {squares}));
  NPUKIT_ASSIGN_OR_RETURN(const auto root, e.Emit(op::sqrt, {}, {variance}));
  NPUKIT_ASSIGN_OR_RETURN(const auto divisor, e.Emit(op::add, {}, {root, *least}));
  NPUKIT_RETURN_IF_ERROR(e.Emit(op::div, {}, {centred, divisor}, e.op.outputs[0]));
  return Outcome::Done();
}

}  // namespace npukit::importers::onnx
