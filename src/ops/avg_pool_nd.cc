#include "ops/pool_nd.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Value;

Status Infer(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(WantFloat(c, 0));
  NPUKIT_ASSIGN_OR_RETURN(auto shape, PoolShape(c));
  c.outputs[0] = tensor::Type::Tensor(c.inputs[0].dtype, std::move(shape));
  return OkStatus();
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  const Value& x = c.inputs[0];
  const bool padding = c.attrs->Int("count_include_pad", 0) != 0;
  double sum = 0, count = 0;
  return WalkPool(
      c, y.dims(), [&] { sum = count = 0; },
      [&](std::int64_t i) {
        sum += Load(x, i);
        ++count;
      },
      [&](std::int64_t i, double padded) {
        const double n = padding ? padded : count;
        Store(y, i, n == 0 ? 0 : sum / n);
      });
}

constexpr AttrDef kAttrs[] = {{"kernel_shape", AttrKind::kInts},
                              {"strides", AttrKind::kInts},
                              {"pads", AttrKind::kInts},
                              {"dilations", AttrKind::kInts},
                              {"ceil_mode", AttrKind::kInt},
                              {"auto_pad", AttrKind::kString},
                              {"count_include_pad", AttrKind::kInt}};

}  // namespace

constinit const OpDef op::avg_pool_nd = {
    .name = "avg_pool_nd",
    .summary =
        "mean of each window over any number of dimensions; padding is left out unless "
        "count_include_pad",
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = PoolNdCost,
    .loop = LoopShape::kOther,
    .layout = LayoutRule::kFixed,
};

}  // namespace npukit
