#include <algorithm>
#include <cmath>

#include "ops/outputs.h"
#include "ops/quant.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::DType;
using tensor::Type;
using tensor::Value;

Status Infer(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(WantDType(c, 0, [](DType t) { return t == DType::kF32; }, "fp32"));
  c.outputs[0] = Type::Tensor(DType::kU8, c.inputs[0].shape);
  c.outputs[1] = Type::Tensor(DType::kF32, tensor::Dims{});
  c.outputs[2] = Type::Tensor(DType::kU8, tensor::Dims{});
  return OkStatus();
}

// In fp32 throughout: the scale and the zero point are defined by roundings of it.
Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(std::vector<Value> out, MakeOutputs(c, Infer, 3));
  const Value& x = c.inputs[0];
  float low = 0, high = 0;
  const std::int64_t count = x.count();
  for (std::int64_t i = 0; i < count; ++i) {
    const auto v = static_cast<float>(Load(x, i));
    low = std::min(low, v);
    high = std::max(high, v);
  }
  const float step = (high == low ? 1.0f : high - low) / 255.0f;
  const float point = std::nearbyint(std::clamp(0.0f - low / step, 0.0f, 255.0f));
  Store(out[1], 0, step);
  tensor::StoreDouble(out[2], 0, point);
  for (std::int64_t i = 0; i < count; ++i)
    StoreQuantized(out[0], i, static_cast<float>(Load(x, i)) / step, point, true);
  return OkStatus();
}

OpCost DynamicCost(const CostContext& c) {
  return {.vector_ops = 5 * CountOf(c.inputs[0]), .bytes = AllBytes(c)};
}

}  // namespace

constinit const OpDef op::dynamic_quantize_linear = {
    .name = "dynamic_quantize_linear",
    .summary = "x as uint8 with the scale and zero point that its range (0 included) gives",
    .outputs = 3,
    .infer = Infer,
    .reference = Reference,
    .cost = DynamicCost,
    .foreign = {.onnx = "DynamicQuantizeLinear"},
};

}  // namespace npukit
