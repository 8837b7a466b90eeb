#include "ops/cast.h"

namespace npukit {
namespace {

using namespace ops;

Status Infer(InferContext& c) { return InferCast(c, c.inputs[1].dtype); }

Status Reference(EvalContext& c) { return EvaluateCast(c, Infer); }

constexpr AttrDef kAttrs[] = {{"round_mode", AttrKind::kString}, {"saturate", AttrKind::kInt}};

}  // namespace

// Imported only where the type is not known yet; simplify makes it a cast as soon as it is.
constinit const OpDef op::cast_like = {
    .name = "cast_like",
    .summary = "x in the element type of a second input, where that becomes known late",
    .min_inputs = 2,
    .max_inputs = 2,
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = CostPerElement,
};

}  // namespace npukit
