#include "ops/reduce.h"

namespace npukit {
namespace {

using namespace ops;

Status Infer(InferContext& c) { return InferReduce(c, Reduction::kLogSumExp); }
Status Reference(EvalContext& c) { return EvaluateReduce(c, Reduction::kLogSumExp, Infer); }

}  // namespace

constinit const OpDef op::reduce_log_sum_exp = {
    .name = "reduce_log_sum_exp",
    .summary = "logarithm of the sum of exp over the named axes (all, when none is named)",
    .attrs = kReduceAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = ReduceCost,
    .loop = LoopShape::kOther,
    .layout = LayoutRule::kFixed,
    .foreign = {.onnx = "ReduceLogSumExp"},
};

}  // namespace npukit
