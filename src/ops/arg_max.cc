#include "ops/arg_extreme.h"

namespace npukit {
namespace {

using namespace ops;

Status Reference(EvalContext& c) { return EvaluateArgExtreme(c, /*largest=*/true); }

}  // namespace

constinit const OpDef op::arg_max = {
    .name = "arg_max",
    .summary = "where the largest element along an axis is, as int64; the first of equals",
    .attrs = kArgExtremeAttrs,
    .infer = InferArgExtreme,
    .reference = Reference,
    .cost = ArgExtremeCost,
    .loop = LoopShape::kOther,
    .layout = LayoutRule::kFixed,
    .foreign = {.onnx = "ArgMax", .tflite = "ARG_MAX", .nnrt = "OH_NN_OPS_ARG_MAX"},
};

}  // namespace npukit
