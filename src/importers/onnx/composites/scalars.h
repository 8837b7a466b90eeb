// Constants of a composite that have the type of one of its inputs.
#pragma once

#include "importers/onnx/source_op.h"

namespace npukit::importers::onnx {

// One number of input i's type; nullopt when that type is not known or holds no numbers.
inline Result<std::optional<ir::ValueId>> ScalarLike(Emitter& e, std::size_t input, double x) {
  const tensor::DType t = e.has(input) ? e.Type(input).dtype : tensor::DType::kUndefined;
  if (!tensor::IsFloat(t) && !tensor::IsInteger(t)) return std::optional<ir::ValueId>();
  NPUKIT_ASSIGN_OR_RETURN(const ir::ValueId id, e.Number(t, x));
  return std::optional(id);
}

inline Outcome TypeNotKnown() {
  return Outcome::Foreign("the type of its input is not known",
                          "run onnx.shape_inference on the model");
}

}  // namespace npukit::importers::onnx
