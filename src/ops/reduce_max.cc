#include "ops/reduce.h"

namespace npukit {
namespace {

using namespace ops;

Status Infer(InferContext& c) { return InferReduce(c, Reduction::kMax); }
Status Reference(EvalContext& c) { return EvaluateReduce(c, Reduction::kMax, Infer); }

}  // namespace

constinit const OpDef op::reduce_max = {
    .name = "reduce_max",
    .summary = "largest element over the named axes (all, when none is named)",
    .attrs = kReduceAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = ReduceCost,
    .loop = LoopShape::kReduce,
    .layout = LayoutRule::kAxes,
    .foreign = {.onnx = "ReduceMax", .tflite = "REDUCE_MAX", .nnrt = "OH_NN_OPS_REDUCE_MAX"},
};

}  // namespace npukit
