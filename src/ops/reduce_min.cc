#include "ops/reduce.h"

namespace npukit {
namespace {

using namespace ops;

Status Infer(InferContext& c) { return InferReduce(c, Reduction::kMin); }
Status Reference(EvalContext& c) { return EvaluateReduce(c, Reduction::kMin, Infer); }

}  // namespace

constinit const OpDef op::reduce_min = {
    .name = "reduce_min",
    .summary = "smallest element over the named axes (all, when none is named)",
    .attrs = kReduceAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = ReduceCost,
    .loop = LoopShape::kReduce,
    .layout = LayoutRule::kAxes,
    .foreign = {.onnx = "ReduceMin", .tflite = "REDUCE_MIN", .nnrt = "OH_NN_OPS_REDUCE_MIN"},
};

}  // namespace npukit
