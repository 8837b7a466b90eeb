// What the three window functions share: a sum of cosines over `size` places. Used by the files of
// this folder.
#pragma once

#include "ops/op_def.h"

namespace npukit::ops {

inline constexpr AttrDef kWindowAttrs[] = {{"output_datatype", AttrKind::kInt},
                                           {"periodic", AttrKind::kInt}};

Status InferWindow(InferContext& c);
// a[0] - a[1] cos(2 pi n / N) + a[2] cos(4 pi n / N); N is the size, or one less when not periodic.
Status EvaluateWindow(EvalContext& c, const double (&a)[3]);
// Attribute `output_datatype` as one of our types (fp32 when absent): a number type.
Result<tensor::DType> ReadOutputType(const Attrs& attrs);

}  // namespace npukit::ops
