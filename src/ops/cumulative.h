// What cum_sum and cum_prod share: the running result along an axis that is an input.
#pragma once

#include "ops/rules.h"

namespace npukit::ops {

Status InferCumulative(InferContext& c);
// Floats in double, each result rounded once; integers wrap.
Status EvaluateCumulative(EvalContext& c, bool product);

inline constexpr AttrDef kCumulativeAttrs[] = {{"exclusive", AttrKind::kInt},
                                               {"reverse", AttrKind::kInt}};

}  // namespace npukit::ops
