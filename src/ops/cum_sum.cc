#include "ops/cumulative.h"

namespace npukit {
namespace {

using namespace ops;

Status Reference(EvalContext& c) { return EvaluateCumulative(c, /*product=*/false); }

}  // namespace

constinit const OpDef op::cum_sum = {
    .name = "cum_sum",
    .summary = "running sum of x along an axis; exclusive: of those before; reverse: from the end",
    .min_inputs = 2,
    .max_inputs = 2,
    .attrs = kCumulativeAttrs,
    .infer = InferCumulative,
    .reference = Reference,
    .cost = CostPerElement,
    .loop = LoopShape::kOther,
    .layout = LayoutRule::kFixed,
    .foreign = {.onnx = "CumSum", .tflite = "CUMSUM"},
};

}  // namespace npukit
