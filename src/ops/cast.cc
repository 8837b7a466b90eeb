#include "ops/cast.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "ops/number_text.h"
#include "ops/rules.h"
#include "tensor/narrow.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::DType;
using tensor::Value;

bool CanCast(DType t) {
  return tensor::IsFloat(t) || tensor::IsInteger(t) || t == DType::kBool || t == DType::kString;
}

Result<tensor::PowerRounding> Rounding(const Attrs& attrs) {
  const std::string_view mode = attrs.String("round_mode", "up");
  if (mode == "up") return tensor::PowerRounding::kUp;
  if (mode == "down") return tensor::PowerRounding::kDown;
  if (mode == "nearest") return tensor::PowerRounding::kNearest;
  return InvalidArgument(
      Cat("attribute round_mode is ", Printable(mode), ", expected up, down or nearest"));
}

constexpr const char* kExpected = "expected a float, integer, bool or string type";

Status Infer(InferContext& c) {
  const std::int64_t to = c.attrs.Int("to");
  const bool in_range = to > 0 && to < tensor::kDTypeCount;
  const DType target = in_range ? static_cast<DType>(to) : DType::kUndefined;
  if (!CanCast(target)) {
    return InvalidArgument(
        Cat("attribute to is ", to, " (", tensor::DTypeName(target), "), ", kExpected));
  }
  return InferCast(c, target);
}

// Truncates towards zero; NaN gives 0. What does not fit is open in ONNX: types narrower than 32
// bits keep the low bits and so do negative numbers in unsigned types, as numpy, onnxruntime and
// ONNX's own tests do; the rest saturates.
std::uint64_t FloatToBits(double x, DType t) {
  if (std::isnan(x)) return 0;
  const int bits = std::max(tensor::DTypeBits(t), 32);
  const bool is_signed = tensor::IsSigned(t) || tensor::DTypeBits(t) < 32;
  const double top = std::ldexp(1.0, is_signed ? bits - 1 : bits);  // one past the largest
  if (x >= top)
    return is_signed ? (std::uint64_t{1} << (bits - 1)) - 1 : ~std::uint64_t{0} >> (64 - bits);
  if (!is_signed && x > 0) return static_cast<std::uint64_t>(x);
  if (!is_signed)
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(std::max(x, -0x1p63)));
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(x < -top ? -top : x));
}

// A number that rounds to `t` as the integer itself does: bits that double cannot hold leave a mark
// in its last one, which decides every halfway case of a narrower type rightly.
double IntegerAsDouble(std::uint64_t bits, bool is_signed, DType t) {
  const bool negative = is_signed && static_cast<std::int64_t>(bits) < 0;
  std::uint64_t magnitude = negative ? 0 - bits : bits;
  constexpr std::uint64_t kBelow = (1 << 11) - 1;
  if (t != DType::kF64 && magnitude >> 53 != 0 && (magnitude & kBelow) != 0)
    magnitude = (magnitude & ~kBelow) | (kBelow + 1);
  const auto x = static_cast<double>(magnitude);
  return negative ? -x : x;
}

class Caster {
 public:
  Caster(const Value& x, Value& y, const Attrs& attrs, tensor::PowerRounding rounding)
      : x_(x),
        y_(y),
        saturate_(attrs.Int("saturate", 1) != 0),
        rounding_(rounding),
        to_narrow_(tensor::IsFloat(y.dtype()) && tensor::DTypeBits(y.dtype()) == 8) {}

  Status Run() {
    if (x_.dtype() == y_.dtype()) {
      CopyAll(y_, x_);
      return OkStatus();
    }
    for (std::int64_t i = 0; i < x_.count(); ++i) {
      if (x_.dtype() == DType::kString) {
        NPUKIT_RETURN_IF_ERROR(FromText(i, x_.strings()[static_cast<std::size_t>(i)]));
      } else if (y_.dtype() == DType::kString) {
        y_.mutable_strings()[static_cast<std::size_t>(i)] = NumberText(x_, i);
      } else if (tensor::IsFloat(x_.dtype())) {
        FromDouble(i, Load(x_, i));
      } else {
        FromInteger(i, LoadBits(x_, i), tensor::IsSigned(x_.dtype()));
      }
    }
    return OkStatus();
  }

 private:
  void FromDouble(std::int64_t i, double v) {
    if (to_narrow_) return tensor::StoreNarrow(y_, i, v, saturate_, rounding_);
    if (tensor::IsFloat(y_.dtype())) return Store(y_, i, v);
    StoreBits(y_, i, y_.dtype() == DType::kBool ? !(v == 0) : FloatToBits(v, y_.dtype()));
  }

  void FromInteger(std::int64_t i, std::uint64_t bits, bool is_signed) {
    if (!tensor::IsFloat(y_.dtype())) return StoreBits(y_, i, bits);
    FromDouble(i, IntegerAsDouble(bits, is_signed, y_.dtype()));
  }

  Status FromText(std::int64_t i, std::string_view text) {
    const auto number = ParseNumber(text);
    if (!number) {
      return InvalidArgument(
          Cat("element ", i, " is ", Printable(text), ", expected a number as text"));
    }
    if (number->whole && !tensor::IsFloat(y_.dtype())) {
      StoreBits(y_, i, number->bits);
    } else {
      FromDouble(i, number->value);
    }
    return OkStatus();
  }

  const Value& x_;
  Value& y_;
  bool saturate_;
  tensor::PowerRounding rounding_;
  bool to_narrow_;
};

Status Reference(EvalContext& c) { return EvaluateCast(c, Infer); }

constexpr AttrDef kAttrs[] = {
    {"round_mode", AttrKind::kString}, {"saturate", AttrKind::kInt}, {"to", AttrKind::kInt, true}};

}  // namespace

namespace ops {

Status InferCast(InferContext& c, DType target) {
  NPUKIT_RETURN_IF_ERROR(Rounding(c.attrs).status());
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    const DType t = c.inputs[i].dtype;
    if (t != DType::kUndefined && !CanCast(t))
      return InvalidArgument(Cat("input ", i, " is ", tensor::DTypeName(t), ", ", kExpected));
  }
  c.outputs[0] = tensor::Type::Tensor(target, c.inputs[0].shape);
  return OkStatus();
}

Status EvaluateCast(EvalContext& c, InferFn infer) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, infer));
  NPUKIT_ASSIGN_OR_RETURN(const tensor::PowerRounding rounding, Rounding(*c.attrs));
  return Caster(c.inputs[0], y, *c.attrs, rounding).Run();
}

}  // namespace ops

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
