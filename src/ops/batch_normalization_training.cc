#include "ops/norm.h"
#include "ops/outputs.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Value;

// x; scale and bias; mean and var: three types, as in ONNX.
Status Infer(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(WantEpsilon(c));
  for (std::size_t i = 0; i < 5; ++i) NPUKIT_RETURN_IF_ERROR(WantFloat(c, i));
  tensor::Dim channels;
  if (c.inputs[0].shape) {
    if (c.inputs[0].shape->rank() < 2)
      return InvalidArgument(Cat("x is ", c.inputs[0].ToString(), ", expected rank 2 or more"));
    channels = c.inputs[0].shape->dims[1];
  }
  for (std::size_t i = 1; i < 5; ++i) {
    const auto& s = c.inputs[i].shape;
    if (!s) continue;
    auto same = s->rank() == 1 ? SameDim(s->dims[0], channels)
                               : Result<tensor::Dim>(InvalidArgument("rank"));
    if (!same.ok()) {
      return InvalidArgument(Cat("input ", i, " is ", c.inputs[i].ToString(),
                                 ", expected one number for each of the ", channels.value,
                                 " channels"));
    }
    channels = *same;
  }
  c.outputs[0] = c.inputs[0];
  const tensor::Shape list({channels});
  c.outputs[1] = tensor::Type::Tensor(c.inputs[3].dtype, list);
  c.outputs[2] = tensor::Type::Tensor(c.inputs[4].dtype, list);
  return OkStatus();
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(auto results, MakeOutputs(c, Infer, 3));
  const Value& x = c.inputs[0];
  const std::int64_t channels = x.dims()[1];
  const std::int64_t plane = tensor::DenseStrides(x.dims())[1];
  const std::int64_t images = x.dims()[0];
  const auto n = static_cast<double>(images) * static_cast<double>(plane);
  const double epsilon = c.attrs->Float("epsilon", 1e-5f);
  const double momentum = c.attrs->Float("momentum", 0.9f);
  for (std::int64_t ch = 0; ch < channels; ++ch) {
    const auto each = [&](auto f) {
      for (std::int64_t image = 0; image < images; ++image) {
        const std::int64_t at = (image * channels + ch) * plane;
        for (std::int64_t i = at; i < at + plane; ++i) f(i);
      }
    };
    double mean = 0, variance = 0;
    each([&](std::int64_t i) { mean += Load(x, i); });
    mean /= n;
    each([&](std::int64_t i) { variance += (Load(x, i) - mean) * (Load(x, i) - mean); });
    variance /= n;
    const double scale = Load(c.inputs[1], ch) / std::sqrt(variance + epsilon);
    const double bias = Load(c.inputs[2], ch);
    each([&](std::int64_t i) { Store(results[0], i, (Load(x, i) - mean) * scale + bias); });
    Store(results[1], ch, Load(c.inputs[3], ch) * momentum + mean * (1 - momentum));
    Store(results[2], ch, Load(c.inputs[4], ch) * momentum + variance * (1 - momentum));
  }
  return OkStatus();
}

constexpr AttrDef kAttrs[] = {{"epsilon", AttrKind::kFloat}, {"momentum", AttrKind::kFloat}};

}  // namespace

constinit const OpDef op::batch_normalization_training = {
    .name = "batch_normalization_training",
    .summary =
        "batch_normalization by the batch's own mean and variance; also the running mean and "
        "variance, moved towards them by 1 - momentum (0.9)",
    .min_inputs = 5,
    .max_inputs = 5,
    .outputs = 3,
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = NormCost,
    .loop = LoopShape::kOther,
    .layout = LayoutRule::kFixed,
};

}  // namespace npukit
