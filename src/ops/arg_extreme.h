// What arg_max and arg_min share: the place of the first (or last) extreme element along an axis.
#pragma once

#include "ops/rules.h"

namespace npukit::ops {

Status InferArgExtreme(InferContext& c);
// NaN counts as more extreme than any number, as in numpy.
Status EvaluateArgExtreme(EvalContext& c, bool largest);
OpCost ArgExtremeCost(const CostContext& c);

inline constexpr AttrDef kArgExtremeAttrs[] = {
    {"axis", AttrKind::kInt}, {"keepdims", AttrKind::kInt}, {"select_last_index", AttrKind::kInt}};

}  // namespace npukit::ops
