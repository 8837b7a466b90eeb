#include <cmath>
#include <limits>

#include "ops/outputs.h"
#include "ops/pool_nd.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Dims;
using tensor::DType;
using tensor::Value;

// Floats, int8 and uint8, as in ONNX: all exact in double.
Status Infer(InferContext& c) {
  const DType t = c.inputs[0].dtype;
  if (t != DType::kUndefined && t != DType::kI8 && t != DType::kU8 && !IsRealFloat(t)) {
    return InvalidArgument(Cat("input 0 is ", tensor::DTypeName(t),
                               ", expected a floating-point type, int8 or uint8"));
  }
  NPUKIT_ASSIGN_OR_RETURN(const auto shape, PoolShape(c));
  c.outputs[0] = tensor::Type::Tensor(t, shape);
  c.outputs[1] = tensor::Type::Tensor(DType::kI64, shape);
  return OkStatus();
}

// The offset that `at` has when the first spatial dimension counts fastest.
std::int64_t ColumnMajor(std::int64_t at, std::int64_t plane, const Dims& spatial) {
  const std::int64_t channel = at / plane;
  std::int64_t rest = at % plane;
  std::int64_t step = plane;
  std::int64_t moved = 0;
  for (std::size_t d = spatial.size(); d-- > 0;) {
    step /= spatial[d];
    moved += rest % spatial[d] * step;
    rest /= spatial[d];
  }
  return channel * plane + moved;
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(auto results, MakeOutputs(c, Infer, 2));
  const Value& x = c.inputs[0];
  const bool columns = c.attrs->Int("storage_order", 0) != 0;
  const Dims spatial = SpatialDims(x.dims());
  const std::int64_t plane = *tensor::ElementCount(spatial);
  double best = 0;
  std::int64_t where = -1;
  return WalkPool(
      c, results[0].dims(), [&] { best = -std::numeric_limits<double>::infinity(), where = -1; },
      [&](std::int64_t i) {
        const double v = Load(x, i);
        // The first of equals; NaN, once met, stays.
        if (where >= 0 && !(v > best) && !(std::isnan(v) && !std::isnan(best))) return;
        best = v;
        where = i;
      },
      [&](std::int64_t i, double) {
        Store(results[0], i, best);
        const std::int64_t at = columns && where >= 0 ? ColumnMajor(where, plane, spatial) : where;
        StoreBits(results[1], i, static_cast<std::uint64_t>(at));
      });
}

constexpr AttrDef kAttrs[] = {{"kernel_shape", AttrKind::kInts}, {"strides", AttrKind::kInts},
                              {"pads", AttrKind::kInts},         {"dilations", AttrKind::kInts},
                              {"ceil_mode", AttrKind::kInt},     {"auto_pad", AttrKind::kString},
                              {"storage_order", AttrKind::kInt}};

}  // namespace

constinit const OpDef op::max_pool_nd = {
    .name = "max_pool_nd",
    .summary =
        "largest value of each window over any number of dimensions, and where in x it is; -1 of a "
        "window in the padding",
    .outputs = 2,
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = PoolNdCost,
    .loop = LoopShape::kOther,
    .layout = LayoutRule::kFixed,
};

}  // namespace npukit
