#include <cmath>
#include <limits>

#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Value;

Status Infer(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(WantFloat(c, 0));
  if (c.inputs[0].shape) {
    NPUKIT_RETURN_IF_ERROR(NormalAxis(c.attrs.Int("axis", -1), c.inputs[0].shape->rank()).status());
  }
  return InferSameAny(c);
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  const Value& x = c.inputs[0];
  NPUKIT_ASSIGN_OR_RETURN(const std::size_t axis,
                          NormalAxis(c.attrs->Int("axis", -1), x.dims().size()));
  const std::int64_t n = x.dims()[axis];
  const std::int64_t step = tensor::DenseStrides(x.dims())[axis];
  tensor::Dims outer = x.dims();
  outer[axis] = n == 0 ? 0 : 1;
  ForEachIndex<1>(outer, {tensor::DenseStrides(x.dims())}, [&](std::int64_t, const auto* at) {
    double top = -std::numeric_limits<double>::infinity();
    for (std::int64_t i = 0; i < n; ++i) top = std::fmax(top, Load(x, at[0] + i * step));
    double sum = 0;
    for (std::int64_t i = 0; i < n; ++i) sum += std::exp(Load(x, at[0] + i * step) - top);
    for (std::int64_t i = 0; i < n; ++i) {
      Store(y, at[0] + i * step, std::exp(Load(x, at[0] + i * step) - top) / sum);
    }
  });
  return OkStatus();
}

OpCost SoftmaxCost(const CostContext& c) {
  return {.vector_ops = 12 * CountOf(c.inputs[0]), .bytes = AllBytes(c)};
}

constexpr AttrDef kAttrs[] = {{"axis", AttrKind::kInt}};

}  // namespace

constinit const OpDef op::softmax = {
    .name = "softmax",
    .summary = "exp(x) over its sum along one axis",
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = SoftmaxCost,
    .loop = LoopShape::kSoftmax,
    .layout = LayoutRule::kAxes,
    .foreign = {.onnx = "Softmax", .tflite = "SOFTMAX", .nnrt = "OH_NN_OPS_SOFTMAX"},
};

}  // namespace npukit
