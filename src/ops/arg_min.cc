#include "ops/arg_extreme.h"

namespace npukit {
namespace {

using namespace ops;

Status Reference(EvalContext& c) { return EvaluateArgExtreme(c, /*largest=*/false); }

}  // namespace

constinit const OpDef op::arg_min = {
    .name = "arg_min",
    .summary = "where the smallest element along an axis is, as int64; the first of equals",
    .attrs = kArgExtremeAttrs,
    .infer = InferArgExtreme,
    .reference = Reference,
    .cost = ArgExtremeCost,
    .loop = LoopShape::kOther,
    .layout = LayoutRule::kFixed,
    .foreign = {.onnx = "ArgMin", .tflite = "ARG_MIN"},
};

}  // namespace npukit
