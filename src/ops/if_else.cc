#include "ops/op_def.h"

namespace npukit {

constinit const ops::OpDef op::if_else = {
    .name = "if_else",
    .summary = "runs one of two bodies; inputs: cond, captures of then, captures of else",
    .min_inputs = 1,
    .max_inputs = -1,
    .outputs = -1,
    .any_kind = true,
    .control = true,
};

}  // namespace npukit
