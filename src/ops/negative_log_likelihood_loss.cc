#include "ops/loss.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Value;

Status Infer(InferContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(c.outputs[0], InferLoss(c));
  return OkStatus();
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value loss, MakeOutput(c, Infer));
  return ReduceLoss(c, [&](std::int64_t i) { return Load(c.inputs[0], i); }, loss);
}

}  // namespace

constinit const OpDef op::negative_log_likelihood_loss = {
    .name = "negative_log_likelihood_loss",
    .summary =
        "minus x at each place's class, weighted; all (none), their sum or weighted mean; "
        "ignore_index counts as nothing",
    .min_inputs = 2,
    .max_inputs = 3,
    .attrs = kLossAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = LossCost,
    .loop = LoopShape::kOther,
    .layout = LayoutRule::kFixed,
    .foreign = {.onnx = "NegativeLogLikelihoodLoss"},
};

}  // namespace npukit
