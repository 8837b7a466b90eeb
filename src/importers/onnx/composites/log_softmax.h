// Shared by today's LogSoftmax and that of opsets before 13.
#pragma once

#include "importers/onnx/source_op.h"

namespace npukit::importers::onnx {

// x - max - log(sum(exp(x - max))) along `axis`, as `output` or, where that is kNoValue, a new
// value.
Result<ir::ValueId> EmitLogSoftmax(Emitter& e, ir::ValueId x, std::int64_t axis,
                                   ir::ValueId output);

}  // namespace npukit::importers::onnx
