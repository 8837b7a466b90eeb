#include <cmath>
#include <limits>

#include "base/text.h"
#include "ops/pool.h"

namespace npukit {
namespace {

using namespace ops;

// Floats, int8 and uint8, as in ONNX: all exact in double.
Status Infer(InferContext& c) {
  const tensor::DType t = c.inputs[0].dtype;
  const bool bytes = t == tensor::DType::kI8 || t == tensor::DType::kU8;
  if (t != tensor::DType::kUndefined && !bytes && !IsRealFloat(t)) {
    return InvalidArgument(Cat("input 0 is ", tensor::DTypeName(t),
                               ", expected a floating-point type, int8 or uint8"));
  }
  return InferPool(c);
}

Status Reference(EvalContext& c) {
  double best = 0;
  return EvaluatePool(
      c, Infer, [&] { best = -std::numeric_limits<double>::infinity(); },
      [&](double v) { best = v > best || std::isnan(v) ? v : best; },  // NaN, once met, stays
      [&](std::int64_t) { return best; });
}

constexpr AttrDef kAttrs[] = {{"kernel_shape", AttrKind::kInts, true},
                              {"strides", AttrKind::kInts},
                              {"pads", AttrKind::kInts},
                              {"dilations", AttrKind::kInts},
                              {"ceil_mode", AttrKind::kInt},
                              {"auto_pad", AttrKind::kString},
                              {"layout", AttrKind::kString}};

}  // namespace

constinit const OpDef op::max_pool2d = {
    .name = "max_pool2d",
    .summary = "largest value of each window; padding never wins",
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = PoolCost,
    .loop = LoopShape::kPool,
    .layout = LayoutRule::kSpatial,
    .foreign = {.onnx = "MaxPool", .tflite = "MAX_POOL_2D", .nnrt = "OH_NN_OPS_MAX_POOL"},
};

}  // namespace npukit
