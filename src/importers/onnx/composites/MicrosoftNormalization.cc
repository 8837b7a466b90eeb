// Normalisations that onnxruntime's optimisers write: com.microsoft's, and
// SimplifiedLayerNormalization, which they put into ONNX's own domain.
#include "importers/onnx/composites/build.h"

namespace npukit::importers::onnx {

namespace {

ops::Attrs Epsilon(const Emitter& e) {
  return Attributes({{"axis", std::int64_t{-1}}, {"epsilon", e.op.attrs.Float("epsilon", 1e-12f)}});
}

// 1 / sqrt(variance + epsilon), for files that read it.
void InverseDeviation(Emitter& e, Build& b, ir::ValueId centred, std::size_t output) {
  const ops::Attrs last = Attributes({{"axes", ops::Ints{-1}}});
  const ir::ValueId variance = b(op::reduce_mean, {b(op::mul, {centred, centred})}, last);
  const ir::ValueId epsilon = b.Scalar(e.Type(0).dtype, e.op.attrs.Float("epsilon", 1e-12f));
  b.To(output, op::reciprocal, {b(op::sqrt, {b(op::add, {variance, epsilon})})});
}

// The sum of input, skip and bias; `bias` is an input's number.
ir::ValueId Skipped(Emitter& e, Build& b, std::size_t bias) {
  const bool biased = e.has(bias);
  ir::ValueId sum = ir::kNoValue;
  if (e.op.outputs.size() > 3) {
    const ir::ValueId both = biased ? b(op::add, {e.input(0), e.input(1)}) : e.input(0);
    b.To(3, op::add, {both, biased ? e.input(bias) : e.input(1)});
    return e.op.outputs[3];
  }
  sum = b(op::add, {e.input(0), e.input(1)});
  return biased ? b(op::add, {sum, e.input(bias)}) : sum;
}

}  // namespace

Result<Outcome> ImportMicrosoftSkipLayerNormalization(Emitter& e) {
  Build b(e);
  const ir::ValueId sum = Skipped(e, b, 4);
  b.To(0, op::layer_normalization, {sum, e.input(2), e.input(3)}, Epsilon(e));
  if (e.op.outputs.size() > 1) {
    if (!e.has(0) || !tensor::IsFloat(e.Type(0).dtype)) return UnknownType("the input");
    b.To(1, op::reduce_mean, {sum}, Attributes({{"axes", ops::Ints{-1}}}));
    if (e.op.outputs.size() > 2) InverseDeviation(e, b, b(op::sub, {sum, e.op.outputs[1]}), 2);
  }
  return b.Done();
}

Result<Outcome> ImportMicrosoftSkipSimplifiedLayerNormalization(Emitter& e) {
  if (e.op.outputs.size() > 1 && (!e.has(0) || !tensor::IsFloat(e.Type(0).dtype)))
    return UnknownType("the input");
  Build b(e);
  const ir::ValueId sum = Skipped(e, b, 3);
  b.To(0, op::rms_normalization, {sum, e.input(2)}, Epsilon(e));
  b.To(1, op::reduce_mean, {sum}, Attributes({{"axes", ops::Ints{-1}}}));
  if (e.op.outputs.size() > 2) InverseDeviation(e, b, sum, 2);
  return b.Done();
}

Result<Outcome> ImportSimplifiedLayerNormalization(Emitter& e) {
  if (e.op.outputs.size() > 1) {
    return Outcome::Foreign("the deviation is read", "export without it: it is for training");
  }
  Build b(e);
  b.To(0, op::rms_normalization, e.op.inputs, Only(e.op.attrs, {"axis", "epsilon"}));
  return b.Done();
}

// Outputs: the normalised sum, how many words each mask keeps, the sum.
Result<Outcome> ImportMicrosoftEmbedLayerNormalization(Emitter& e) {
  constexpr std::size_t kIds = 0, kSegments = 1, kWords = 2, kPositions = 3, kSegmentTable = 4,
                        kGamma = 5, kBeta = 6, kMask = 7, kPositionIds = 8;
  Build b(e);
  ir::ValueId position = ir::kNoValue;
  if (e.has(kPositionIds)) {
    position = b(op::gather, {e.input(kPositions), e.input(kPositionIds)});
  } else {
    position =
        b(op::slice, {e.input(kPositions), b.Ints({0}), b.Size(e.input(kIds), 1), b.Ints({0})});
  }
  ir::ValueId sum = b(op::add, {b(op::gather, {e.input(kWords), e.input(kIds)}), position});
  if (e.has(kSegmentTable) && e.has(kSegments))
    sum = b(op::add, {sum, b(op::gather, {e.input(kSegmentTable), e.input(kSegments)})});
  b.To(2, op::identity, {sum});
  b.To(0, op::layer_normalization, {sum, e.input(kGamma), e.input(kBeta)}, Epsilon(e));
  if (e.op.outputs.size() > 1) {
    const ir::ValueId mask =
        e.has(kMask) ? e.input(kMask) : b(op::sub, {e.input(kIds), e.input(kIds)});  // zeros
    b.To(1, op::reduce_sum, {mask},
         Attributes({{"axes", ops::Ints{1}}, {"keepdims", std::int64_t{0}}}));
  }
  return b.Done();
}

}  // namespace npukit::importers::onnx
