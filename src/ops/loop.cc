#include "ops/op_def.h"

namespace npukit {
namespace {

constexpr ops::AttrDef kAttrs[] = {
    {"carried", ops::AttrKind::kInt, true},
};

}  // namespace

constinit const ops::OpDef op::loop = {
    .name = "loop",
    .summary = "runs a body again and again; inputs: trip count?, cond?, carried values, captures",
    .min_inputs = 0,
    .max_inputs = -1,
    .outputs = -1,
    .attrs = kAttrs,
    .any_kind = true,
    .control = true,
};

}  // namespace npukit
