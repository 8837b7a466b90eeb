#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Dim;
using tensor::Value;

constexpr std::int64_t kMaxPooled = 1 << 20;

Result<std::array<std::int64_t, 2>> Pooled(const Attrs& attrs) {
  const Ints shape = attrs.IntList("pooled_shape");
  const bool fits = shape.size() == 2 && shape[0] >= 1 && shape[1] >= 1 && shape[0] <= kMaxPooled &&
                    shape[1] <= kMaxPooled;
  if (!fits) {
    return InvalidArgument(
        Cat("pooled_shape is [", JoinInts(shape, ", "), "], expected a height and a width"));
  }
  return std::array<std::int64_t, 2>{shape[0], shape[1]};
}

Status Infer(InferContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(const auto pooled, Pooled(c.attrs));
  NPUKIT_RETURN_IF_ERROR(WantFloat(c, 0));
  NPUKIT_RETURN_IF_ERROR(WantSameDType(c, 0, 1));
  const tensor::Type& x = c.inputs[0];
  const tensor::Type& rois = c.inputs[1];
  if (x.shape && x.shape->rank() != 4)
    return InvalidArgument(Cat("input 0 is ", x.ToString(), ", expected rank 4"));
  if (rois.shape && (rois.shape->rank() != 2 ||
                     (rois.shape->dims[1].known() && rois.shape->dims[1].value != 5))) {
    return InvalidArgument(
        Cat("input 1 is ", rois.ToString(), ", expected rows of 5: batch, x1, y1, x2, y2"));
  }
  c.outputs[0] = tensor::Type::Tensor(
      x.dtype,
      tensor::Shape({rois.shape ? rois.shape->dims[0] : Dim{}, x.shape ? x.shape->dims[1] : Dim{},
                     Dim::Of(pooled[0]), Dim::Of(pooled[1])}));
  return OkStatus();
}

// Bin `k` of `bins` that cover `extent` elements from `start` on, cut to the `n` there are.
void Bin(std::int64_t k, std::int64_t bins, double start, double extent, std::int64_t n,
         std::int64_t* begin, std::int64_t* end) {
  const double size = extent / static_cast<double>(bins);
  const auto limit = static_cast<double>(n);
  *begin = static_cast<std::int64_t>(
      std::clamp(std::floor(static_cast<double>(k) * size) + start, 0.0, limit));
  *end = static_cast<std::int64_t>(
      std::clamp(std::ceil(static_cast<double>(k + 1) * size) + start, 0.0, limit));
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  NPUKIT_ASSIGN_OR_RETURN(const auto pooled, Pooled(*c.attrs));
  const Value& x = c.inputs[0];
  const Value& rois = c.inputs[1];
  const auto scale = static_cast<double>(c.attrs->Float("spatial_scale", 1));
  const std::int64_t channels = x.dims()[1], height = x.dims()[2], width = x.dims()[3];
  for (std::int64_t r = 0; r < rois.dims()[0]; ++r) {
    const std::int64_t n = tensor::ElementAsInt64(rois, r * 5);
    if (n < 0 || n >= x.dims()[0])
      return InvalidArgument(Cat("region ", r, " is of batch ", n, ", there are ", x.dims()[0]));
    double side[4];
    for (int i = 0; i < 4; ++i) {
      side[i] = std::round(Load(rois, r * 5 + 1 + i) * scale);
      if (!std::isfinite(side[i])) return InvalidArgument(Cat("region ", r, " is not finite"));
    }
    const double w = std::max(side[2] - side[0] + 1, 1.0);
    const double h = std::max(side[3] - side[1] + 1, 1.0);
    for (std::int64_t i = 0; i < channels * pooled[0] * pooled[1]; ++i) {
      std::int64_t y0 = 0, y1 = 0, x0 = 0, x1 = 0;
      Bin(i / pooled[1] % pooled[0], pooled[0], side[1], h, height, &y0, &y1);
      Bin(i % pooled[1], pooled[1], side[0], w, width, &x0, &x1);
      const std::int64_t plane = (n * channels + i / (pooled[0] * pooled[1])) * height * width;
      double top = y0 < y1 && x0 < x1 ? Load(x, plane + y0 * width + x0) : 0;  // an empty bin is 0
      for (std::int64_t row = y0; row < y1; ++row) {
        for (std::int64_t column = x0; column < x1; ++column)
          top = std::max(top, Load(x, plane + row * width + column));
      }
      Store(y, r * channels * pooled[0] * pooled[1] + i, top);
    }
  }
  return OkStatus();
}

// Of regions as large as x; its bins together have two more rows and columns each, at most.
OpCost RoiCost(const CostContext& c) {
  OpCost cost{.vector_ops = 8 * CountOf(c.outputs[0]), .bytes = AllBytes(c)};
  if (c.inputs[0].is_static() && c.outputs[0].is_static()) {
    const tensor::Dims x = c.inputs[0].dims(), y = c.outputs[0].dims();
    cost.vector_ops += static_cast<double>(y[0]) * static_cast<double>(y[1]) *
                       static_cast<double>(x[2] + 2 * y[2]) * static_cast<double>(x[3] + 2 * y[3]);
  }
  return cost;
}

constexpr AttrDef kAttrs[] = {{"pooled_shape", AttrKind::kInts, true},
                              {"spatial_scale", AttrKind::kFloat}};

}  // namespace

constinit const OpDef op::max_roi_pool = {
    .name = "max_roi_pool",
    .summary = "each region of x as bins: the largest element of each",
    .min_inputs = 2,
    .max_inputs = 2,
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = RoiCost,
    .loop = LoopShape::kOther,
    .foreign = {.onnx = "MaxRoiPool"},
};

}  // namespace npukit
