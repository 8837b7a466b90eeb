#include <cmath>
#include <limits>

#include "ops/loss.h"
#include "ops/outputs.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Value;

Status Infer(InferContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(c.outputs[0], InferLoss(c));
  c.outputs[1] = c.inputs[0];
  return OkStatus();
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(auto results, MakeOutputs(c, Infer, 2));
  const Value& x = c.inputs[0];
  const std::int64_t classes = x.dims()[1];
  const std::int64_t plane = tensor::DenseStrides(x.dims())[1];
  // log(sum of exp(x - top)) + top of the place that element i belongs to.
  const auto norm = [&](std::int64_t i) {
    const std::int64_t first = i / plane / classes * classes * plane + i % plane;
    double top = -std::numeric_limits<double>::infinity();
    for (std::int64_t k = 0; k < classes; ++k) top = std::fmax(top, Load(x, first + k * plane));
    double sum = 0;
    for (std::int64_t k = 0; k < classes; ++k) sum += std::exp(Load(x, first + k * plane) - top);
    return std::log(sum) + top;
  };
  NPUKIT_RETURN_IF_ERROR(
      ReduceLoss(c, [&](std::int64_t i) { return Load(x, i) - norm(i); }, results[0]));
  for (std::int64_t image = 0; x.count() != 0 && image < x.dims()[0]; ++image) {
    for (std::int64_t p = 0; p < plane; ++p) {
      const std::int64_t first = image * classes * plane + p;
      const double by = norm(first);
      for (std::int64_t k = 0; k < classes; ++k)
        Store(results[1], first + k * plane, Load(x, first + k * plane) - by);
    }
  }
  return OkStatus();
}

}  // namespace

constinit const OpDef op::softmax_cross_entropy_loss = {
    .name = "softmax_cross_entropy_loss",
    .summary =
        "negative_log_likelihood_loss of log(softmax(x)) over dimension 1; also that logarithm",
    .min_inputs = 2,
    .max_inputs = 3,
    .outputs = 2,
    .attrs = kLossAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = LossCost,
    .loop = LoopShape::kOther,
    .layout = LayoutRule::kFixed,
    .foreign = {.onnx = "SoftmaxCrossEntropyLoss"},
};

}  // namespace npukit
