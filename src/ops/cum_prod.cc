#include "ops/cumulative.h"

namespace npukit {
namespace {

using namespace ops;

Status Reference(EvalContext& c) { return EvaluateCumulative(c, /*product=*/true); }

}  // namespace

constinit const OpDef op::cum_prod = {
    .name = "cum_prod",
    .summary =
        "running product of x along an axis; exclusive: of those before; reverse: from the end",
    .min_inputs = 2,
    .max_inputs = 2,
    .attrs = kCumulativeAttrs,
    .infer = InferCumulative,
    .reference = Reference,
    .cost = CostPerElement,
    .loop = LoopShape::kOther,
    .layout = LayoutRule::kFixed,
    .foreign = {.onnx = "CumProd"},
};

}  // namespace npukit
