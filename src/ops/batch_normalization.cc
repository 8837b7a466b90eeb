#include <cmath>

#include "base/text.h"
#include "ops/rules.h"
#include "ops/window.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Value;

Status Infer(InferContext& c) {
  for (std::size_t i = 0; i < 5; ++i) NPUKIT_RETURN_IF_ERROR(WantFloat(c, i));
  NPUKIT_ASSIGN_OR_RETURN(const bool nhwc, ReadNhwc(c.attrs));
  const tensor::Type& x = c.inputs[0];
  tensor::Dim channels;
  if (x.shape) {
    if (x.shape->rank() < 2)
      return InvalidArgument(Cat("x is ", x.ToString(), ", expected rank 2 or more"));
    channels = x.shape->dims[nhwc ? x.shape->rank() - 1 : 1];
  }
  for (std::size_t i = 1; i < 5; ++i) {
    const auto& s = c.inputs[i].shape;
    if (s && (s->rank() != 1 || !SameDim(s->dims[0], channels).ok())) {
      return InvalidArgument(Cat("input ", i, " is ", c.inputs[i].ToString(),
                                 ", expected one number for each of the ", channels.value,
                                 " channels"));
    }
  }
  c.outputs[0] = x;
  return OkStatus();
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  const Value& x = c.inputs[0];
  NPUKIT_ASSIGN_OR_RETURN(const bool nhwc, ReadNhwc(*c.attrs));
  const std::size_t axis = nhwc ? x.dims().size() - 1 : 1;
  const std::int64_t channels = x.dims()[axis];
  const std::int64_t inner = tensor::DenseStrides(x.dims())[axis];
  const double epsilon = c.attrs->Float("epsilon", 1e-5f);
  for (std::int64_t i = 0; i < x.count(); ++i) {
    const std::int64_t ch = i / inner % channels;
    const double scale = Load(c.inputs[1], ch) / std::sqrt(Load(c.inputs[4], ch) + epsilon);
    Store(y, i, (Load(x, i) - Load(c.inputs[3], ch)) * scale + Load(c.inputs[2], ch));
  }
  return OkStatus();
}

OpCost BatchNormCost(const CostContext& c) {
  return {.vector_ops = 2 * CountOf(c.outputs[0]), .bytes = AllBytes(c)};
}

constexpr AttrDef kAttrs[] = {{"epsilon", AttrKind::kFloat}, {"layout", AttrKind::kString}};

}  // namespace

constinit const OpDef op::batch_normalization = {
    .name = "batch_normalization",
    .summary = "(x - mean) / sqrt(var + epsilon) * scale + bias, per channel",
    .min_inputs = 5,
    .max_inputs = 5,
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = BatchNormCost,
    .loop = LoopShape::kOther,
    .layout = LayoutRule::kSpatial,
    .foreign = {.onnx = "BatchNormalization", .nnrt = "OH_NN_OPS_BATCH_NORM"},
};

}  // namespace npukit
