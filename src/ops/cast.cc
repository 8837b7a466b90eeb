#include <cmath>
#include <limits>

#include "base/text.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::DType;
using tensor::Value;

bool CanCast(DType t) { return IsRealFloat(t) || tensor::IsInteger(t) || t == DType::kBool; }

Status Infer(InferContext& c) {
  const std::int64_t to = c.attrs.Int("to");
  const bool in_range = to > 0 && to < tensor::kDTypeCount;
  const DType target = in_range ? static_cast<DType>(to) : DType::kUndefined;
  if (!CanCast(target)) {
    return InvalidArgument(Cat("attribute to is ", to, " (", tensor::DTypeName(target),
                               "), expected a float, integer or bool type"));
  }
  const DType source = c.inputs[0].dtype;
  if (source != DType::kUndefined && !CanCast(source)) {
    return InvalidArgument(
        Cat("input 0 is ", tensor::DTypeName(source), ", expected a float, integer or bool type"));
  }
  c.outputs[0] = tensor::Type::Tensor(target, c.inputs[0].shape);
  return OkStatus();
}

// Truncates towards zero; outside the range the nearest end, NaN gives 0 (ONNX leaves both open).
std::uint64_t FloatToBits(double x, DType t) {
  if (std::isnan(x)) return 0;
  const int bits = tensor::DTypeBits(t);
  const double top =
      std::ldexp(1.0, tensor::IsSigned(t) ? bits - 1 : bits);  // one past the largest
  if (x >= top) {
    return tensor::IsSigned(t) ? (std::uint64_t{1} << (bits - 1)) - 1
                               : ~std::uint64_t{0} >> (64 - bits);
  }
  if (!tensor::IsSigned(t)) return x <= 0 ? 0 : static_cast<std::uint64_t>(x);
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(x < -top ? -top : x));
}

// Integers of 64 bits reach fp32 in one rounding, not by way of double.
void StoreInteger(Value& y, std::int64_t i, std::uint64_t bits, bool is_signed) {
  if (y.dtype() == DType::kF32) {
    const float f =
        is_signed ? static_cast<float>(static_cast<std::int64_t>(bits)) : static_cast<float>(bits);
    return Store(y, i, static_cast<double>(f));
  }
  Store(
      y, i,
      is_signed ? static_cast<double>(static_cast<std::int64_t>(bits)) : static_cast<double>(bits));
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  const Value& x = c.inputs[0];
  const bool from_float = IsRealFloat(x.dtype());
  const bool to_float = IsRealFloat(y.dtype());
  const bool is_signed = tensor::IsSigned(x.dtype());
  for (std::int64_t i = 0; i < x.count(); ++i) {
    if (from_float && to_float) {
      Store(y, i, Load(x, i));
    } else if (from_float) {
      const double v = Load(x, i);
      StoreBits(y, i, y.dtype() == DType::kBool ? !(v == 0) : FloatToBits(v, y.dtype()));
    } else if (to_float) {
      StoreInteger(y, i, LoadBits(x, i), is_signed);
    } else {
      StoreBits(y, i, LoadBits(x, i));
    }
  }
  return OkStatus();
}

constexpr AttrDef kAttrs[] = {{"to", AttrKind::kInt, true}};

}  // namespace

constinit const OpDef op::cast = {
    .name = "cast",
    .summary = "x in another element type; to integers by truncation, integers wrap",
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = CostPerElement,
    .loop = LoopShape::kUnary,
    .layout = LayoutRule::kAny,
    .foreign = {.onnx = "Cast", .tflite = "CAST", .nnrt = "OH_NN_OPS_CAST"},
};

}  // namespace npukit
