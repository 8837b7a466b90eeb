#include "ops/reduce.h"

namespace npukit {
namespace {

using namespace ops;

Status Infer(InferContext& c) { return InferReduce(c, Reduction::kSum); }
Status Reference(EvalContext& c) { return EvaluateReduce(c, Reduction::kSum, Infer); }

}  // namespace

constinit const OpDef op::reduce_sum = {
    .name = "reduce_sum",
    .summary = "sum over the named axes (all, when none is named)",
    .attrs = kReduceAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = ReduceCost,
    .loop = LoopShape::kReduce,
    .layout = LayoutRule::kAxes,
    .foreign = {.onnx = "ReduceSum", .tflite = "SUM", .nnrt = "OH_NN_OPS_REDUCE_SUM"},
};

}  // namespace npukit
