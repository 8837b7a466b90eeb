// What cast and cast_like share: they differ in who names the type. Pure functions.
#pragma once

#include "ops/rules.h"

namespace npukit::ops {

// Result 0 has the shape of input 0 and this type, which may be unknown. Every input is of a type
// that can be cast, or unknown.
Status InferCast(InferContext& c, tensor::DType target);
// Input 0 in the type that `infer` gives result 0; attributes saturate and round_mode.
Status EvaluateCast(EvalContext& c, InferFn infer);

}  // namespace npukit::ops
