#include "ops/windows.h"

#include <cmath>
#include <numbers>

#include "base/text.h"
#include "ops/indexing.h"
#include "ops/rules.h"

namespace npukit::ops {

using tensor::Dim;
using tensor::DType;

namespace {
constexpr std::int64_t kMaxWindowSize = std::int64_t{1} << 26;
}  // namespace

Result<DType> ReadOutputType(const Attrs& attrs) {
  const std::int64_t given = attrs.Int("output_datatype", static_cast<std::int64_t>(DType::kF32));
  const bool named = given > 0 && given < tensor::kDTypeCount;
  if (!named || !IsNumber(static_cast<DType>(given))) {
    return InvalidArgument(Cat("output_datatype is ",
                               named ? tensor::DTypeName(static_cast<DType>(given)) : "no type",
                               ", expected a number type"));
  }
  return static_cast<DType>(given);
}

Status InferWindow(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(WantOneInteger(c, 0));
  NPUKIT_ASSIGN_OR_RETURN(const DType t, ReadOutputType(c.attrs));
  Dim n;
  if (c.constants[0] != nullptr && c.constants[0]->count() == 1) {
    const std::int64_t size = tensor::ElementAsInt64(*c.constants[0], 0);
    if (size < 0) return InvalidArgument(Cat("size is ", size));
    if (size > kMaxWindowSize)
      return ResourceExhausted(
          Cat("a window of ", size, " places is too long, the limit is ", kMaxWindowSize));
    n = Dim::Of(size);
  }
  c.outputs[0] = tensor::Type::Tensor(t, tensor::Shape({n}));
  return OkStatus();
}

Status EvaluateWindow(EvalContext& c, const double (&a)[3]) {
  NPUKIT_ASSIGN_OR_RETURN(tensor::Value y, MakeOutput(c, InferWindow));
  const bool periodic = c.attrs->Int("periodic", 1) != 0;
  const std::int64_t n = y.count() - (periodic ? 0 : 1);
  for (std::int64_t i = 0; i < y.count(); ++i) {
    // A window of one place is 1.
    double w = 1;
    if (n > 0) {
      const double turn = 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(n);
      w = a[0] - a[1] * std::cos(turn) + a[2] * std::cos(2 * turn);
    }
    Store(y, i, tensor::IsInteger(y.dtype()) ? std::trunc(w) : w);
  }
  return OkStatus();
}

}  // namespace npukit::ops
