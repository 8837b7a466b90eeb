#pragma once

#include "ops/op_def.h"

namespace npukit::op {
extern const ops::OpDef reduce_over;
}  // namespace npukit::op
