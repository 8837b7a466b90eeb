#include "ops/reduce.h"

namespace npukit {
namespace {

using namespace ops;

Status Infer(InferContext& c) { return InferReduce(c, Reduction::kProd); }
Status Reference(EvalContext& c) { return EvaluateReduce(c, Reduction::kProd, Infer); }

}  // namespace

constinit const OpDef op::reduce_prod = {
    .name = "reduce_prod",
    .summary = "product over the named axes (all, when none is named)",
    .attrs = kReduceAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = ReduceCost,
    .loop = LoopShape::kOther,
    .layout = LayoutRule::kFixed,
    .foreign = {.onnx = "ReduceProd", .tflite = "REDUCE_PROD", .nnrt = "OH_NN_OPS_REDUCE_PROD"},
};

}  // namespace npukit
