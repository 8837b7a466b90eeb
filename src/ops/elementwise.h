// Type rules of elementwise operators on integers and on all floats.
#pragma once

#include "base/text.h"
#include "ops/rules.h"

namespace npukit::ops {

inline Status WantInteger(const InferContext& c, std::size_t input) {
  const tensor::DType t = c.inputs[input].dtype;
  if (t == tensor::DType::kUndefined || (tensor::IsInteger(t) && IsNumber(t))) return OkStatus();
  return InvalidArgument(
      Cat("input ", input, " is ", tensor::DTypeName(t), ", expected an integer type"));
}

// Two integers of one type, shapes broadcast.
inline Status InferIntegers(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(WantInteger(c, 0));
  NPUKIT_RETURN_IF_ERROR(WantInteger(c, 1));
  return InferBroadcast(c);
}

// Any float, those of 8 and 4 bits too, makes a bool.
inline Status InferClassify(InferContext& c) {
  const tensor::DType t = c.inputs[0].dtype;
  if (t != tensor::DType::kUndefined && !tensor::IsFloat(t)) {
    return InvalidArgument(
        Cat("input 0 is ", tensor::DTypeName(t), ", expected a floating-point type"));
  }
  c.outputs[0] = tensor::Type::Tensor(tensor::DType::kBool, c.inputs[0].shape);
  return OkStatus();
}

}  // namespace npukit::ops
