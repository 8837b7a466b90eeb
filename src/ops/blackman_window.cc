#include "ops/rules.h"
#include "ops/windows.h"

namespace npukit {
namespace {

using namespace ops;

Status Reference(EvalContext& c) { return EvaluateWindow(c, {0.42, 0.5, 0.08}); }

}  // namespace

constinit const OpDef op::blackman_window = {
    .name = "blackman_window",
    .summary = "the Blackman window of a size: 0.42 - 0.5 cos + 0.08 cos of the double angle",
    .attrs = kWindowAttrs,
    .infer = InferWindow,
    .reference = Reference,
    .cost = CostPerElement10,
    .loop = LoopShape::kOther,
};

}  // namespace npukit
