#include "ops/cumulative.h"

#include "base/text.h"

namespace npukit::ops {

using tensor::DType;
using tensor::Value;

Status InferCumulative(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(WantNumber(c, 0));
  const tensor::Type& axis = c.inputs[1];
  const bool integer =
      axis.dtype == DType::kUndefined || axis.dtype == DType::kI32 || axis.dtype == DType::kI64;
  // A list of one number is taken as well: exporters write both.
  const bool one =
      !axis.shape || axis.shape->rank() == 0 ||
      (axis.shape->rank() == 1 && (!axis.shape->dims[0].known() || axis.shape->dims[0].value == 1));
  if (!integer || !one) {
    return InvalidArgument(
        Cat("input 1 is ", axis.ToString(), ", expected one int32 or int64 number"));
  }
  if (c.constants[1] != nullptr && c.constants[1]->count() == 1 && c.inputs[0].shape) {
    NPUKIT_RETURN_IF_ERROR(
        NormalAxis(tensor::ElementAsInt64(*c.constants[1], 0), c.inputs[0].shape->rank()).status());
  }
  return InferSameAny(c);
}

Status EvaluateCumulative(EvalContext& c, bool product) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, InferCumulative));
  const Value& x = c.inputs[0];
  NPUKIT_ASSIGN_OR_RETURN(const std::size_t axis,
                          NormalAxis(tensor::ElementAsInt64(c.inputs[1], 0), x.dims().size()));
  const bool exclusive = c.attrs->Int("exclusive", 0) != 0;
  const bool reverse = c.attrs->Int("reverse", 0) != 0;
  const bool floats = IsRealFloat(x.dtype());
  const std::int64_t n = x.dims()[axis];
  const std::int64_t step = tensor::DenseStrides(x.dims())[axis];
  tensor::Dims outer = x.dims();
  outer[axis] = n == 0 ? 0 : 1;
  ForEachIndex<1>(outer, {tensor::DenseStrides(x.dims())}, [&](std::int64_t, const auto* at) {
    double f = product ? 1 : 0;
    std::uint64_t bits = product ? 1 : 0;
    for (std::int64_t k = 0; k < n; ++k) {
      const std::int64_t here = at[0] + (reverse ? n - 1 - k : k) * step;
      const auto put = [&] { floats ? Store(y, here, f) : StoreBits(y, here, bits); };
      if (exclusive) put();
      if (floats) {
        f = product ? f * Load(x, here) : f + Load(x, here);
      } else {
        bits = product ? bits * LoadBits(x, here) : bits + LoadBits(x, here);
      }
      if (!exclusive) put();
    }
  });
  return OkStatus();
}

}  // namespace npukit::ops
