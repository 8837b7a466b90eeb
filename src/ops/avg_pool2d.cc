#include "ops/pool.h"

namespace npukit {
namespace {

using namespace ops;

Status Infer(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(WantFloat(c, 0));
  return InferPool(c);
}

// With count_include_pad the divisor counts the padding, but not what ceil_mode adds beyond it.
Status Reference(EvalContext& c) {
  const bool count_pad = c.attrs->Int("count_include_pad", 0) != 0;
  double sum = 0;
  std::int64_t inside = 0;
  return EvaluatePool(
      c, Infer, [&] { sum = 0, inside = 0; }, [&](double v) { sum += v, ++inside; },
      [&](std::int64_t padded) {
        const std::int64_t n = count_pad ? padded : inside;
        return n == 0 ? 0 : sum / static_cast<double>(n);
      });
}

constexpr AttrDef kAttrs[] = {{"kernel_shape", AttrKind::kInts, true},
                              {"strides", AttrKind::kInts},
                              {"pads", AttrKind::kInts},
                              {"dilations", AttrKind::kInts},
                              {"ceil_mode", AttrKind::kInt},
                              {"auto_pad", AttrKind::kString},
                              {"layout", AttrKind::kString},
                              {"count_include_pad", AttrKind::kInt}};

}  // namespace

constinit const OpDef op::avg_pool2d = {
    .name = "avg_pool2d",
    .summary = "mean of each window; padding is left out unless count_include_pad",
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = PoolCost,
    .loop = LoopShape::kPool,
    .layout = LayoutRule::kSpatial,
    .foreign = {.onnx = "AveragePool", .tflite = "AVERAGE_POOL_2D", .nnrt = "OH_NN_OPS_AVG_POOL"},
};

}  // namespace npukit
