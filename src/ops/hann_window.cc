#include "ops/rules.h"
#include "ops/windows.h"

namespace npukit {
namespace {

using namespace ops;

Status Reference(EvalContext& c) { return EvaluateWindow(c, {0.5, 0.5, 0}); }

}  // namespace

constinit const OpDef op::hann_window = {
    .name = "hann_window",
    .summary = "the Hann window of a size: 0.5 - 0.5 cos",
    .attrs = kWindowAttrs,
    .infer = InferWindow,
    .reference = Reference,
    .cost = CostPerElement10,
    .loop = LoopShape::kOther,
};

}  // namespace npukit
