#include "ops/norm.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Value;

// scale and bias have one number for each channel, or one for each group, as opset 18 had it. One
// for all is not in the standard's text, but its function body broadcasts it, and so does
// onnxruntime.
Status Infer(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(WantEpsilon(c));
  NPUKIT_RETURN_IF_ERROR(WantFloat(c, 0));
  const std::int64_t groups = c.attrs.Int("num_groups");
  if (groups < 1) return InvalidArgument(Cat("num_groups is ", groups, ", expected 1 or more"));
  tensor::Dim channels;
  if (c.inputs[0].shape) {
    if (c.inputs[0].shape->rank() < 2)
      return InvalidArgument(Cat("x is ", c.inputs[0].ToString(), ", expected rank 2 or more"));
    channels = c.inputs[0].shape->dims[1];
    if (channels.known() && channels.value % groups != 0) {
      return InvalidArgument(
          Cat("x has ", channels.value, " channels, not a multiple of num_groups ", groups));
    }
  }
  for (std::size_t i = 1; i < 3; ++i) {
    NPUKIT_RETURN_IF_ERROR(WantSameDType(c, 0, i));
    const auto& s = c.inputs[i].shape;
    if (!s || (s->rank() == 1 &&
               (SameDim(s->dims[0], channels).ok() ||
                SameDim(s->dims[0], tensor::Dim::Of(groups)).ok() || s->dims[0].value == 1))) {
      continue;
    }
    return InvalidArgument(Cat("input ", i, " is ", c.inputs[i].ToString(),
                               ", expected one number for each of the ", channels.value,
                               " channels or ", groups, " groups"));
  }
  return InferSameAny(c);
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  const Value& x = c.inputs[0];
  if (x.count() == 0) return OkStatus();
  const std::int64_t groups = c.attrs->Int("num_groups");
  const std::int64_t channels = x.dims()[1];
  const std::int64_t plane = tensor::DenseStrides(x.dims())[1];
  const std::int64_t per_group = channels / groups;
  const std::int64_t n = per_group * plane;
  const double epsilon = c.attrs->Float("epsilon", 1e-5f);
  const auto of = [&](const Value& v, std::int64_t channel) {
    return Load(v, v.count() == channels ? channel : v.count() == 1 ? 0 : channel / per_group);
  };
  for (std::int64_t at = 0; at < x.count(); at += n) {
    const Moments m = MomentsOf(x, at, n);
    const double root = std::sqrt(m.variance + epsilon);
    for (std::int64_t i = at; i < at + n; ++i) {
      const std::int64_t channel = i / plane % channels;
      Store(y, i,
            (Load(x, i) - m.mean) / root * of(c.inputs[1], channel) + of(c.inputs[2], channel));
    }
  }
  return OkStatus();
}

// stash_type: the type of the sums, which are double here.
constexpr AttrDef kAttrs[] = {{"num_groups", AttrKind::kInt, true},
                              {"epsilon", AttrKind::kFloat},
                              {"stash_type", AttrKind::kInt}};

}  // namespace

constinit const OpDef op::group_normalization = {
    .name = "group_normalization",
    .summary =
        "(x - mean) / sqrt(var + epsilon) * scale + bias, over num_groups groups of channels of "
        "each image",
    .min_inputs = 3,
    .max_inputs = 3,
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = NormCost,
    .loop = LoopShape::kOther,
    .layout = LayoutRule::kFixed,
    .foreign = {.onnx = "GroupNormalization"},
};

}  // namespace npukit
