#include "ops/rules.h"
#include "ops/windows.h"

namespace npukit {
namespace {

using namespace ops;

Status Reference(EvalContext& c) { return EvaluateWindow(c, {25.0 / 46, 21.0 / 46, 0}); }

}  // namespace

constinit const OpDef op::hamming_window = {
    .name = "hamming_window",
    .summary = "the Hamming window of a size: 25/46 - 21/46 cos",
    .attrs = kWindowAttrs,
    .infer = InferWindow,
    .reference = Reference,
    .cost = CostPerElement10,
    .loop = LoopShape::kOther,
};

}  // namespace npukit
