#include "ops/reduce.h"

namespace npukit {
namespace {

using namespace ops;

Status Infer(InferContext& c) { return InferReduce(c, Reduction::kMean); }
Status Reference(EvalContext& c) { return EvaluateReduce(c, Reduction::kMean, Infer); }

}  // namespace

constinit const OpDef op::reduce_mean = {
    .name = "reduce_mean",
    .summary = "mean over the named axes (all, when none is named)",
    .attrs = kReduceAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = ReduceCost,
    .loop = LoopShape::kReduce,
    .layout = LayoutRule::kAxes,
    .foreign = {.onnx = "ReduceMean", .tflite = "MEAN", .nnrt = "OH_NN_OPS_REDUCE_MEAN"},
};

}  // namespace npukit
