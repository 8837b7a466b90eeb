#include <cmath>

#include "base/text.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Value;

// The result has the type of the base; the exponent may have another.
Status Infer(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(WantNumber(c, 0));
  NPUKIT_RETURN_IF_ERROR(WantNumber(c, 1));
  NPUKIT_ASSIGN_OR_RETURN(auto shape, BroadcastShapes(c.inputs[0].shape, c.inputs[1].shape));
  c.outputs[0] = tensor::Type::Tensor(c.inputs[0].dtype, std::move(shape));
  return OkStatus();
}

// Wraps, by repeated squaring. A negative exponent truncates 1/b^n: 0 but for bases 1 and -1 (and 0
// for base 0).
std::uint64_t IntPow(std::uint64_t base, std::uint64_t exponent, bool negative) {
  if (negative) {
    const bool odd = exponent & 1;
    return base == 1 ? 1 : base == ~std::uint64_t{0} ? (odd ? base : 1) : 0;
  }
  std::uint64_t y = 1;
  for (; exponent != 0; exponent >>= 1, base *= base) {
    if (exponent & 1) y *= base;
  }
  return y;
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  const Value& a = c.inputs[0];
  const Value& b = c.inputs[1];
  const bool ints = tensor::IsInteger(a.dtype()) && tensor::IsInteger(b.dtype());
  const bool b_signed = tensor::IsSigned(b.dtype());
  const std::array<tensor::Dims, 2> strides{BroadcastStrides(a.dims(), y.dims()),
                                            BroadcastStrides(b.dims(), y.dims())};
  ForEachIndex<2>(y.dims(), strides, [&](std::int64_t i, const auto* at) {
    if (ints) {
      const std::uint64_t e = LoadBits(b, at[1]);
      StoreBits(y, i, IntPow(LoadBits(a, at[0]), e, b_signed && static_cast<std::int64_t>(e) < 0));
      return;
    }
    const double p = std::pow(Load(a, at[0]), Load(b, at[1]));
    Store(y, i, tensor::IsInteger(y.dtype()) ? std::trunc(p) : p);
  });
  return OkStatus();
}

}  // namespace

constinit const OpDef op::pow = {
    .name = "pow",
    .summary = "a to the power b with numpy broadcasting; the result has the type of a",
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = Infer,
    .reference = Reference,
    .cost = CostPerElement10,
    .loop = LoopShape::kBinary,
    .layout = LayoutRule::kBroadcast,
    .foreign = {.onnx = "Pow", .tflite = "POW", .nnrt = "OH_NN_OPS_POW"},
};

}  // namespace npukit
