// What the operators on strings, and those of ai.onnx.ml, share. Pure functions.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/status.h"
#include "ops/rules.h"

namespace npukit::ops {

Status WantString(const InferContext& c, std::size_t input);
// One of those given (or unknown).
Status WantOneOf(const InferContext& c, std::size_t input,
                 std::initializer_list<tensor::DType> types);
// fp32, fp64, int32, int64: what most operators of ai.onnx.ml take.
Status WantMlNumber(const InferContext& c, std::size_t input);

// An attribute that is a list of strings; empty when absent.
const Strings& StringList(const Attrs& attrs, std::string_view name);
bool HasAttr(const Attrs& attrs, std::string_view name);

// A tensor of strings as output i, outside of planned memory. kResourceExhausted: too many.
Result<tensor::Value> MakeStrings(EvalContext& c, int i, const tensor::Dims& dims);
// `total` bytes of text are more than one value may take.
Status CheckTextBytes(double total);

// An element as a key that is equal for equal elements: text itself, eight bytes of an integer or a
// number. All NaN are one, and so are both zeros.
std::string KeyOf(const tensor::Value& v, std::int64_t i);

}  // namespace npukit::ops
