// Values that are no tensors: what sequence and optional operators share, and types as text, which
// is how the attribute `type` of `optional` holds one. All functions are pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "ops/op_def.h"

namespace npukit::ops {

// The same kind of value, sizes and ranks not known.
tensor::Type OfAnyShape(const tensor::Type& t);
// What is certain of a value that is one of two things. Sizes, ranks and element types that differ
// become unknown; an optional and what it may hold are an optional. kInvalidArgument: a tensor and
// a sequence, or two known element types.
Result<tensor::Type> JoinTypes(const tensor::Type& a, const tensor::Type& b);

// "fp32[2,?]", "fp32[...]", "seq(int64[...])", "opt(seq(string[]))"; named sizes read as unknown.
std::string TypeText(const tensor::Type& t);
Result<tensor::Type> ParseTypeText(std::string_view text);

// Ok for a sequence, and where nothing is known.
Status WantSequence(const InferContext& c, std::size_t input);
// Of the sequence at `input`; a type that says nothing where it is not known.
tensor::Type ElementType(const InferContext& c, std::size_t input);
Status WantPosition(const InferContext& c, std::size_t input);
// The one int32 or int64 in `v`, counted from the back when negative: 0 <= position < end.
Result<std::size_t> Position(const tensor::Value& v, std::size_t end);

// The type that the rule gives result 0 for the inputs at hand.
Result<tensor::Type> TypeOfResult(EvalContext& c, InferFn infer);

}  // namespace npukit::ops
