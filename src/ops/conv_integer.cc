#include "ops/integer_conv.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Value;

Status Infer(InferContext& c) {
  for (const std::size_t i : {0, 1}) {
    if (!Has(c, i + 2)) continue;
    NPUKIT_RETURN_IF_ERROR(WantInt8(c, i + 2));
    NPUKIT_RETURN_IF_ERROR(WantSameDType(c, i, i + 2));
    NPUKIT_RETURN_IF_ERROR(i == 0 ? WantOneNumber(c, 2) : CheckPerChannel(c, 3, 1));
  }
  return InferIntegerConv(c, 0, 1, tensor::DType::kI32);
}

// Padding adds zero points: nothing.
Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  NPUKIT_ASSIGN_OR_RETURN(IntegerConv conv,
                          IntegerConv::Make(*c.attrs, c.inputs[0], c.inputs[1], y.dims()));
  auto* out = static_cast<std::int32_t*>(y.mutable_data());
  conv.Run(c.inputs.size() > 2 ? c.inputs[2] : Value(), c.inputs.size() > 3 ? c.inputs[3] : Value(),
           [&](std::int64_t i, std::int64_t, std::int32_t sum) { out[i] = sum; });
  return OkStatus();
}

OpCost ConvCost(const CostContext& c) { return IntegerConvCost(c, 1); }

constexpr AttrDef kAttrs[] = {{"strides", AttrKind::kInts},    {"pads", AttrKind::kInts},
                              {"dilations", AttrKind::kInts},  {"group", AttrKind::kInt},
                              {"auto_pad", AttrKind::kString}, {"kernel_shape", AttrKind::kInts}};

}  // namespace

constinit const OpDef op::conv_integer = {
    .name = "conv_integer",
    .summary =
        "convolution of 8-bit integers less their zero points, over any number of "
        "dimensions, as int32 (wraps)",
    .min_inputs = 2,
    .max_inputs = 4,
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = ConvCost,
    .foreign = {.onnx = "ConvInteger"},
};

}  // namespace npukit
