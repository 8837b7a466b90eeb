// Operators whose attributes name a type by ONNX's number.
#include "base/text.h"
#include "importers/onnx/source_op.h"
#include "importers/onnx/tensors.h"

namespace npukit::importers::onnx {

namespace {

Result<Outcome> EmitTyped(Emitter& e, const ops::OpDef& def, const char* name,
                          std::initializer_list<std::string_view> others) {
  ops::Attrs attrs = Only(e.op.attrs, others);
  if (e.op.attrs.Find(name) != nullptr) {
    const std::int64_t number = e.op.attrs.Int(name);
    const auto t = DTypeOf(number);
    if (!t) return InvalidArgument(Cat("attribute ", name, " is ", number, ", which is no type"));
    attrs.Set(name, static_cast<std::int64_t>(*t));
  }
  NPUKIT_RETURN_IF_ERROR(e.Emit(def, std::move(attrs), e.op.inputs, e.op.outputs[0]));
  return Outcome::Done();
}

}  // namespace

Result<Outcome> ImportEyeLike(Emitter& e) { return EmitTyped(e, op::eye_like, "dtype", {"k"}); }

Result<Outcome> ImportBlackmanWindow(Emitter& e) {
  return EmitTyped(e, op::blackman_window, "output_datatype", {"periodic"});
}

Result<Outcome> ImportHammingWindow(Emitter& e) {
  return EmitTyped(e, op::hamming_window, "output_datatype", {"periodic"});
}

Result<Outcome> ImportHannWindow(Emitter& e) {
  return EmitTyped(e, op::hann_window, "output_datatype", {"periodic"});
}

Result<Outcome> ImportMelWeightMatrix(Emitter& e) {
  return EmitTyped(e, op::mel_weight_matrix, "output_datatype", {});
}

}  // namespace npukit::importers::onnx
