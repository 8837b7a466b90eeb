#include "ops/outputs.h"

#include "base/text.h"
#include "ops/rules.h"

namespace npukit::ops {

using tensor::Type;
using tensor::Value;

Result<std::vector<Type>> TypesWithoutValues(const EvalContext& c, InferFn infer,
                                             std::size_t results) {
  const KnownInputs known(c.inputs);
  const std::vector<const Value*> nothing(known.constants.size(), nullptr);
  std::vector<Type> out(results);
  InferContext ic{known.types, nothing, *c.attrs, out};
  NPUKIT_RETURN_IF_ERROR(infer(ic));
  return out;
}

Result<std::vector<Value>> MakeOutputs(EvalContext& c, std::span<const Type> types) {
  std::vector<Value> values;
  for (const Type& t : types) {
    const int i = static_cast<int>(values.size());
    if (!t.is_static() || t.dtype == tensor::DType::kUndefined) {
      return Internal(Cat("the type of result ", i, " stayed ", t.ToString(),
                          " although all inputs are known"));
    }
    NPUKIT_RETURN_IF_ERROR(CheckAddressable(t));
    const tensor::Dims dims = t.dims();
    if (t.dtype == tensor::DType::kString) {
      // Strings live outside planned memory; the value handed over shares them with the one that
      // the caller fills.
      NPUKIT_ASSIGN_OR_RETURN(Value v, Value::Allocate(t.dtype, dims));
      NPUKIT_RETURN_IF_ERROR(c.SetOutput(i, v));
      values.push_back(std::move(v));
      continue;
    }
    NPUKIT_ASSIGN_OR_RETURN(Value v, c.Output(i, t.dtype, dims));
    if (tensor::DTypeBits(t.dtype) < 8 && v.byte_size() != 0) {
      // The unused part of the last byte is zero.
      static_cast<std::uint8_t*>(v.mutable_data())[v.byte_size() - 1] = 0;
    }
    values.push_back(std::move(v));
  }
  return values;
}

Result<std::vector<Value>> MakeOutputs(EvalContext& c, InferFn infer, std::size_t results) {
  const KnownInputs known(c.inputs);
  std::vector<Type> out(results);
  InferContext ic{known.types, known.constants, *c.attrs, out};
  NPUKIT_RETURN_IF_ERROR(infer(ic));
  return MakeOutputs(c, out);
}

}  // namespace npukit::ops
