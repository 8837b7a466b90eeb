#include "ops/norm.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Value;

Status Infer(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(WantEpsilon(c));
  NPUKIT_RETURN_IF_ERROR(WantFloat(c, 0));
  tensor::Dim channels;
  if (c.inputs[0].shape) {
    if (c.inputs[0].shape->rank() < 2)
      return InvalidArgument(Cat("x is ", c.inputs[0].ToString(), ", expected rank 2 or more"));
    channels = c.inputs[0].shape->dims[1];
  }
  for (std::size_t i = 1; i < 3; ++i) {
    NPUKIT_RETURN_IF_ERROR(WantSameDType(c, 0, i));
    const auto& s = c.inputs[i].shape;
    if (!s || (s->rank() == 1 && SameDim(s->dims[0], channels).ok())) continue;
    return InvalidArgument(Cat("input ", i, " is ", c.inputs[i].ToString(),
                               ", expected one number for each of the ", channels.value,
                               " channels"));
  }
  return InferSameAny(c);
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  const Value& x = c.inputs[0];
  if (x.count() == 0) return OkStatus();
  const std::int64_t channels = x.dims()[1];
  const std::int64_t plane = tensor::DenseStrides(x.dims())[1];
  const double epsilon = c.attrs->Float("epsilon", 1e-5f);
  for (std::int64_t at = 0; at < x.count(); at += plane) {
    const std::int64_t channel = at / plane % channels;
    const Moments m = MomentsOf(x, at, plane);
    const double scale = Load(c.inputs[1], channel) / std::sqrt(m.variance + epsilon);
    const double bias = Load(c.inputs[2], channel);
    for (std::int64_t i = 0; i < plane; ++i)
      Store(y, at + i, (Load(x, at + i) - m.mean) * scale + bias);
  }
  return OkStatus();
}

constexpr AttrDef kAttrs[] = {{"epsilon", AttrKind::kFloat}};

}  // namespace

constinit const OpDef op::instance_normalization = {
    .name = "instance_normalization",
    .summary = "(x - mean) / sqrt(var + epsilon) * scale + bias, over each channel of each image",
    .min_inputs = 3,
    .max_inputs = 3,
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = NormCost,
    .loop = LoopShape::kOther,
    .layout = LayoutRule::kFixed,
    .foreign = {.onnx = "InstanceNormalization", .nnrt = "OH_NN_OPS_INSTANCE_NORM"},
};

}  // namespace npukit
