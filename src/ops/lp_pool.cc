#include <cmath>

#include "ops/pool_nd.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Value;

Status Infer(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(WantFloat(c, 0));
  const std::int64_t p = c.attrs.Int("p", 2);
  if (p < 1) return InvalidArgument(Cat("attribute p is ", p, ", expected 1 or more"));
  NPUKIT_ASSIGN_OR_RETURN(auto shape, PoolShape(c));
  c.outputs[0] = tensor::Type::Tensor(c.inputs[0].dtype, std::move(shape));
  return OkStatus();
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  const Value& x = c.inputs[0];
  const auto p = static_cast<double>(c.attrs->Int("p", 2));
  double sum = 0;
  return WalkPool(
      c, y.dims(), [&] { sum = 0; },
      [&](std::int64_t i) { sum += std::pow(std::fabs(Load(x, i)), p); },
      [&](std::int64_t i, double) { Store(y, i, std::pow(sum, 1 / p)); });
}

constexpr AttrDef kAttrs[] = {{"kernel_shape", AttrKind::kInts},
                              {"strides", AttrKind::kInts},
                              {"pads", AttrKind::kInts},
                              {"dilations", AttrKind::kInts},
                              {"ceil_mode", AttrKind::kInt},
                              {"auto_pad", AttrKind::kString},
                              {"p", AttrKind::kInt}};

}  // namespace

constinit const OpDef op::lp_pool = {
    .name = "lp_pool",
    .summary =
        "p-norm of each window over any number of dimensions; without kernel_shape, of each "
        "channel",
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = PoolNdCost,
    .loop = LoopShape::kOther,
    .layout = LayoutRule::kFixed,
    .foreign = {.onnx = "LpPool"},
};

}  // namespace npukit
