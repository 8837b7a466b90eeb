#include <vector>

#include "base/text.h"
#include "ops/integer_conv.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::DType;
using tensor::Value;

constexpr std::size_t kX = 0, kXScale = 1, kXZero = 2, kW = 3, kWScale = 4, kWZero = 5, kYScale = 6,
                      kYZero = 7, kBias = 8;

Status Infer(InferContext& c) {
  const auto fp32 = [](DType t) { return t == DType::kF32; };
  for (const std::size_t i : {kXScale, kWScale, kYScale})
    NPUKIT_RETURN_IF_ERROR(WantDType(c, i, fp32, "fp32"));
  for (const std::size_t i : {kXZero, kWZero, kYZero}) NPUKIT_RETURN_IF_ERROR(WantInt8(c, i));
  for (const std::size_t i : {kXScale, kXZero, kYScale, kYZero})
    NPUKIT_RETURN_IF_ERROR(WantOneNumber(c, i));
  NPUKIT_RETURN_IF_ERROR(WantSameDType(c, kX, kXZero));
  NPUKIT_RETURN_IF_ERROR(WantSameDType(c, kW, kWZero));
  NPUKIT_RETURN_IF_ERROR(CheckPerChannel(c, kWScale, kW));
  NPUKIT_RETURN_IF_ERROR(CheckPerChannel(c, kWZero, kW));
  if (Has(c, kBias)) {
    NPUKIT_RETURN_IF_ERROR(WantDType(c, kBias, [](DType t) { return t == DType::kI32; }, "int32"));
    const auto& bias = c.inputs[kBias].shape;
    const auto& w = c.inputs[kW].shape;
    if (bias && w && w->rank() > 0 &&
        (bias->rank() != 1 || !SameDim(bias->dims[0], w->dims[0]).ok())) {
      return InvalidArgument(Cat("bias is ", c.inputs[kBias].ToString(),
                                 ", expected one number for each output channel of ",
                                 c.inputs[kW].ToString()));
    }
  }
  return InferIntegerConv(c, kX, kW, c.inputs[kYZero].dtype);
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  NPUKIT_ASSIGN_OR_RETURN(IntegerConv conv,
                          IntegerConv::Make(*c.attrs, c.inputs[kX], c.inputs[kW], y.dims()));
  const Value bias = c.inputs.size() > kBias ? c.inputs[kBias] : Value();
  const Value& w_scale = c.inputs[kWScale];
  std::vector<float> multipliers(static_cast<std::size_t>(c.inputs[kW].dims()[0]));
  for (std::size_t o = 0; o < multipliers.size(); ++o) {
    const std::int64_t p = w_scale.count() == 1 ? 0 : static_cast<std::int64_t>(o);
    multipliers[o] = static_cast<float>(ScaleOfProduct(
        DType::kF32, Load(c.inputs[kXScale], 0), Load(w_scale, p), Load(c.inputs[kYScale], 0)));
  }
  const double zero = Load(c.inputs[kYZero], 0);
  conv.Run(c.inputs[kXZero], c.inputs[kWZero],
           [&](std::int64_t i, std::int64_t o, std::int32_t sum) {
             auto total = static_cast<std::uint32_t>(sum);  // unsigned: wraps
             if (bias.present()) total += static_cast<std::uint32_t>(LoadBits(bias, o));
             StoreRequantized(y, i, static_cast<std::int32_t>(total),
                              multipliers[static_cast<std::size_t>(o)], zero);
           });
  return OkStatus();
}

OpCost ConvCost(const CostContext& c) { return IntegerConvCost(c, kW); }

constexpr AttrDef kAttrs[] = {{"strides", AttrKind::kInts},    {"pads", AttrKind::kInts},
                              {"dilations", AttrKind::kInts},  {"group", AttrKind::kInt},
                              {"auto_pad", AttrKind::kString}, {"kernel_shape", AttrKind::kInts}};

}  // namespace

constinit const OpDef op::qlinear_conv = {
    .name = "qlinear_conv",
    .summary =
        "convolution of quantised tensors, requantised: x, scale, zero point, w, scale, "
        "zero point, scale and zero point of the result, bias (int32)",
    .min_inputs = 8,
    .max_inputs = 9,
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = ConvCost,
    .foreign = {.onnx = "QLinearConv"},
};

}  // namespace npukit
