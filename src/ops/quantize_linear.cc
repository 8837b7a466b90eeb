#include <cstring>

#include "base/text.h"
#include "ops/given.h"
#include "ops/quant.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::DType;
using tensor::Value;

bool IsSource(DType t) {
  return t == DType::kF32 || t == DType::kF16 || t == DType::kBF16 || t == DType::kI32;
}
constexpr char kSources[] = "fp32, fp16, bf16 or int32";
constexpr char kTargets[] = "an integer of 2 to 16 bits, fp8 or fp4";

Status Infer(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(WantDType(c, 0, IsSource, kSources));
  NPUKIT_RETURN_IF_ERROR(WantDType(c, 1, IsSource, kSources));
  NPUKIT_RETURN_IF_ERROR(WantDType(c, 2, IsQuantized, kTargets));
  NPUKIT_RETURN_IF_ERROR(DTypeAttr(c.attrs, "precision", IsRealFloat, "a floating type").status());
  NPUKIT_ASSIGN_OR_RETURN(DType t, DTypeAttr(c.attrs, "output_dtype", IsQuantized, kTargets));
  if (IsGiven(c, 2)) {
    const DType zero = c.inputs[2].dtype;
    if (t != DType::kUndefined && zero != DType::kUndefined && t != zero) {
      return InvalidArgument(Cat("output_dtype is ", tensor::DTypeName(t), ", the zero point is ",
                                 tensor::DTypeName(zero)));
    }
    if (t == DType::kUndefined) t = zero;
  } else if (t == DType::kUndefined) {
    t = DType::kU8;
  }
  NPUKIT_RETURN_IF_ERROR(CheckQuantShapes(c));
  c.outputs[0] = tensor::Type::Tensor(t, c.inputs[0].shape);
  return OkStatus();
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  const Value& x = c.inputs[0];
  const Value& scale = c.inputs[1];
  const Value zero = c.inputs.size() > 2 ? c.inputs[2] : Value();
  NPUKIT_ASSIGN_OR_RETURN(const Granularity g, GranularityOf(*c.attrs, x.dims(), scale.dims()));
  NPUKIT_ASSIGN_OR_RETURN(DType precision,
                          DTypeAttr(*c.attrs, "precision", IsRealFloat, "a floating type"));
  if (precision == DType::kUndefined)
    precision = IsRealFloat(scale.dtype()) ? scale.dtype() : DType::kF32;
  const bool saturate = c.attrs->Int("saturate", 1) != 0;
  if (y.byte_size() != 0) std::memset(y.mutable_data(), 0, y.byte_size());  // halves of bytes
  const std::int64_t count = y.count();
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t p = g.At(i);
    const double quotient =
        RoundTo(precision, RoundTo(precision, Load(x, i)) / RoundTo(precision, Load(scale, p)));
    StoreQuantized(y, i, quotient, zero.present() ? Load(zero, p) : 0, saturate);
  }
  return OkStatus();
}

constexpr AttrDef kAttrs[] = {{"axis", AttrKind::kInt},
                              {"block_size", AttrKind::kInt},
                              {"output_dtype", AttrKind::kInt},
                              {"precision", AttrKind::kInt},
                              {"saturate", AttrKind::kInt}};

OpCost QuantizeCost(const CostContext& c) {
  return {.vector_ops = 3 * CountOf(c.outputs[0]), .bytes = AllBytes(c)};
}

}  // namespace

constinit const OpDef op::quantize_linear = {
    .name = "quantize_linear",
    .summary =
        "x / scale, rounded to nearest even, plus a zero point, saturated; a scale for all, "
        "for each index of an axis or for blocks of it",
    .min_inputs = 2,
    .max_inputs = 3,
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = QuantizeCost,
    .foreign = {.onnx = "QuantizeLinear",
                .tflite = "QUANTIZE",
                .nnrt = "OH_NN_OPS_QUANT_DTYPE_CAST"},
};

}  // namespace npukit
