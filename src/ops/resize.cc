#include "ops/resize.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "ops/rules.h"
#include "ops/window.h"

namespace npukit {
namespace ops {

std::int64_t RoundResizeSource(ResizeRounding mode, float x) {
  switch (mode) {
    case ResizeRounding::kPreferFloor:
      return static_cast<std::int64_t>(std::floor(x) + 0.5f == x ? std::floor(x) : std::round(x));
    case ResizeRounding::kPreferCeil:
      return static_cast<std::int64_t>(std::floor(x) + 0.5f == x ? std::ceil(x) : std::round(x));
    case ResizeRounding::kFloor:
      return static_cast<std::int64_t>(std::floor(x));
    case ResizeRounding::kCeil:
      return static_cast<std::int64_t>(std::ceil(x));
  }
  return 0;
}

// fp32 product, as ONNX's own shape inference computes it.
Result<std::int64_t> ScaledSize(std::int64_t in, float scale) {
  const float out = std::floor(static_cast<float>(in) * scale);
  if (!(scale > 0) || !(out <= 0x1p40f))
    return InvalidArgument(Cat("a scale of ", scale, " for ", in, " elements"));
  return scale == 1.0f ? in : static_cast<std::int64_t>(out);
}

namespace {

using tensor::Dims;
using tensor::Value;
using Coordinates = ResizeCoordinates;
using Rounding = ResizeRounding;

struct Mode {
  bool linear = false;
  bool nhwc = false;
  Coordinates coordinates = Coordinates::kHalfPixel;
  Rounding rounding = Rounding::kPreferFloor;
};

template <class T, std::size_t N>
Status Choose(const Attrs& attrs, std::string_view name, const char* const (&names)[N], T* out) {
  const std::string_view value = attrs.String(name, names[0]);
  for (std::size_t i = 0; i < N; ++i) {
    if (value == names[i]) {
      *out = static_cast<T>(i);
      return OkStatus();
    }
  }
  return InvalidArgument(Cat(name, " ", Printable(value), " is not known"));
}

Result<Mode> ReadMode(const Attrs& attrs) {
  Mode m;
  NPUKIT_RETURN_IF_ERROR(Choose(attrs, "mode", {"nearest", "linear"}, &m.linear));
  NPUKIT_RETURN_IF_ERROR(Choose(attrs, "coordinate_transformation_mode",
                                {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",
                                 "asymmetric", "align_corners", "tf_half_pixel_for_nn"},
                                &m.coordinates));
  NPUKIT_RETURN_IF_ERROR(Choose(attrs, "nearest_mode",
                                {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"},
                                &m.rounding));
  NPUKIT_ASSIGN_OR_RETURN(m.nhwc, ReadNhwc(attrs));
  return m;
}

// In fp32: ties fall as they do in the runtimes that models were trained to be served by.
ResizeAxis PlanAxis(const Mode& m, float scale, std::int64_t in, std::int64_t out) {
  ResizeAxis axis;
  if (scale == 1.0f && in == out) return axis;
  axis.identity = false;
  const float last = static_cast<float>(in - 1);
  for (std::int64_t i = 0; i < out; ++i) {
    // Clamped before it becomes an integer: a tiny scale makes it huge.
    const float source = std::clamp(ResizeSource(m.coordinates, i, scale, in, out),
                                    m.linear ? 0.0f : -1.0f, m.linear ? last : last + 1);
    if (m.linear) {
      const auto lo = std::min(static_cast<std::int64_t>(source), in - 1);
      axis.lo.push_back(lo);
      axis.hi.push_back(std::min(lo + 1, in - 1));
      axis.weight.push_back(source - static_cast<float>(lo));
    } else {
      const std::int64_t at =
          std::clamp<std::int64_t>(RoundResizeSource(m.rounding, source), 0, in - 1);
      axis.lo.push_back(at);
      axis.hi.push_back(at);
      axis.weight.push_back(0);
    }
  }
  return axis;
}

// scales and sizes name N, C, H, W whatever the layout: input number of x's dimension d.
std::size_t Named(bool nhwc, std::size_t d) {
  constexpr std::size_t kOfNhwc[] = {0, 2, 3, 1};
  return nhwc ? kOfNhwc[d] : d;
}

Status CheckList(const Value& list, std::size_t rank, const char* name) {
  if (list.count() == static_cast<std::int64_t>(rank)) return OkStatus();
  return InvalidArgument(
      Cat(name, " has ", list.count(), " numbers, expected one for each of ", rank, " dimensions"));
}

bool Given(const Value* v) { return v != nullptr && v->present() && v->count() != 0; }

}  // namespace

Result<std::vector<ResizeAxis>> PlanResize(const Attrs& attrs, const Dims& x, const Value* scales,
                                           const Value* sizes, Dims* y) {
  NPUKIT_ASSIGN_OR_RETURN(const Mode mode, ReadMode(attrs));
  if (mode.nhwc && x.size() != 4)
    return InvalidArgument(Cat("layout NHWC needs rank 4, found ", x.size()));
  if (Given(scales) == Given(sizes)) return InvalidArgument("expected either scales or sizes");
  NPUKIT_RETURN_IF_ERROR(Given(sizes) ? CheckList(*sizes, x.size(), "sizes")
                                      : CheckList(*scales, x.size(), "scales"));
  std::vector<ResizeAxis> axes;
  y->clear();
  for (std::size_t d = 0; d < x.size(); ++d) {
    const auto named = static_cast<std::int64_t>(Named(mode.nhwc, d));
    std::int64_t out = 0;
    float scale = 1;
    if (Given(sizes)) {
      out = tensor::ElementAsInt64(*sizes, named);
      if (out < 0) return InvalidArgument(Cat("sizes holds ", out));
      scale = x[d] == out ? 1.0f : static_cast<float>(out) / static_cast<float>(x[d]);
    } else {
      scale = static_cast<float>(tensor::ElementAsDouble(*scales, named));
      NPUKIT_ASSIGN_OR_RETURN(out, ScaledSize(x[d], scale));
    }
    if (x[d] == 0 && out != 0)
      return InvalidArgument(Cat("dimension ", d, " is 0 and cannot become ", out));
    y->push_back(out);
  }
  if (!tensor::ElementCount(*y)) return ResourceExhausted("the result is too large");
  for (const std::int64_t d : *y) {
    if (d == 0) return std::vector<ResizeAxis>(x.size());  // nothing to compute
  }
  for (std::size_t d = 0; d < x.size(); ++d) {
    if ((*y)[d] > kMaxResizedSize)
      return ResourceExhausted(
          Cat("dimension ", d, " becomes ", (*y)[d], ", the limit is ", kMaxResizedSize));
    const auto named = static_cast<std::int64_t>(Named(mode.nhwc, d));
    const float scale = Given(sizes) ? static_cast<float>((*y)[d]) / static_cast<float>(x[d])
                                     : static_cast<float>(tensor::ElementAsDouble(*scales, named));
    axes.push_back(PlanAxis(mode, scale, x[d], (*y)[d]));
  }
  return axes;
}

namespace {

Status ResizeInfer(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(WantNumber(c, 0));
  const tensor::Type& x = c.inputs[0];
  NPUKIT_ASSIGN_OR_RETURN(const Mode mode, ReadMode(c.attrs));
  if (Has(c, 1)) NPUKIT_RETURN_IF_ERROR(WantFloat(c, 1));
  if (Has(c, 2)) NPUKIT_RETURN_IF_ERROR(WantIndexList(c, 2, false));
  c.outputs[0] = tensor::Type::Tensor(x.dtype, std::nullopt);
  if (!x.shape) return OkStatus();
  const std::size_t rank = x.shape->rank();
  if (mode.nhwc && rank != 4)
    return InvalidArgument(Cat("layout NHWC needs rank 4, found ", x.ToString()));
  std::vector<tensor::Dim> dims(rank, tensor::Dim{});
  const auto constant = [&](std::size_t i) {
    return i < c.constants.size() ? c.constants[i] : nullptr;
  };
  const Value* scales = constant(1);
  const Value* sizes = constant(2);
  // A list that is given but not yet known leaves the sizes open; an empty one counts as not given.
  // The last input is always given, even when nothing is known of it.
  const auto is_open = [&](std::size_t i) {
    return constant(i) == nullptr && (Has(c, i) || i + 1 == c.inputs.size());
  };
  const bool open = is_open(1) || is_open(2);
  if (!open && Given(scales) == Given(sizes))
    return InvalidArgument("expected either scales or sizes");
  const Value* list = Given(sizes) ? sizes : Given(scales) ? scales : nullptr;
  if (list != nullptr) {
    NPUKIT_RETURN_IF_ERROR(CheckList(*list, rank, list == sizes ? "sizes" : "scales"));
    for (std::size_t d = 0; d < rank; ++d) {
      const auto named = static_cast<std::int64_t>(Named(mode.nhwc, d));
      const tensor::Dim& in = x.shape->dims[d];
      if (list == sizes) {
        const std::int64_t out = tensor::ElementAsInt64(*sizes, named);
        if (out < 0 || (in.value == 0 && out != 0))
          return InvalidArgument(Cat("dimension ", d, " cannot become ", out));
        dims[d] = tensor::Dim::Of(out);
      } else {
        const auto scale = static_cast<float>(tensor::ElementAsDouble(*scales, named));
        NPUKIT_ASSIGN_OR_RETURN(const std::int64_t out,
                                ScaledSize(in.known() ? in.value : 1, scale));
        dims[d] = in.known() ? tensor::Dim::Of(out) : scale == 1.0f ? in : tensor::Dim{};
      }
    }
  }
  c.outputs[0].shape = tensor::Shape(std::move(dims));
  return OkStatus();
}

Status ResizeReference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, ResizeInfer));
  const Value& x = c.inputs[0];
  const Value* scales = c.inputs.size() > 1 ? &c.inputs[1] : nullptr;
  const Value* sizes = c.inputs.size() > 2 ? &c.inputs[2] : nullptr;
  Dims planned;
  NPUKIT_ASSIGN_OR_RETURN(const auto axes, PlanResize(*c.attrs, x.dims(), scales, sizes, &planned));
  NPUKIT_CHECK(planned == y.dims());
  const std::size_t rank = x.dims().size();
  const Dims strides = tensor::DenseStrides(x.dims());
  const bool floats = IsRealFloat(x.dtype());
  std::vector<std::size_t> mixed;  // dimensions where two sources may meet
  for (std::size_t d = 0; d < rank; ++d) {
    if (!axes[d].identity && c.attrs->String("mode") == "linear") mixed.push_back(d);
  }
  if (mixed.size() > 16) return ResourceExhausted(Cat("linear in ", mixed.size(), " dimensions"));
  Dims index(rank, 0);
  for (std::int64_t i = 0; i < y.count(); ++i) {
    std::int64_t base = 0;
    std::int64_t rest = i;
    for (std::size_t d = rank; d-- > 0; rest /= y.dims()[d]) {
      index[d] = rest % y.dims()[d];
      base += strides[d] *
              (axes[d].identity ? index[d] : axes[d].lo[static_cast<std::size_t>(index[d])]);
    }
    if (mixed.empty()) {
      CopyElement(y, i, x, base);
      continue;
    }
    double sum = 0;
    for (std::size_t corner = 0; corner < std::size_t{1} << mixed.size(); ++corner) {
      double weight = 1;
      std::int64_t at = base;
      for (std::size_t k = 0; k < mixed.size(); ++k) {
        const ResizeAxis& axis = axes[mixed[k]];
        const auto j = static_cast<std::size_t>(index[mixed[k]]);
        const bool hi = corner >> k & 1;
        weight *=
            hi ? static_cast<double>(axis.weight[j]) : 1.0 - static_cast<double>(axis.weight[j]);
        if (hi) at += strides[mixed[k]] * (axis.hi[j] - axis.lo[j]);
      }
      if (weight != 0) sum += weight * Load(x, at);
    }
    Store(y, i, floats ? sum : std::trunc(sum));
  }
  return OkStatus();
}

OpCost ResizeCost(const CostContext& c) {
  const bool linear = c.attrs.String("mode") == "linear";
  return {.vector_ops = linear ? 4 * CountOf(c.outputs[0]) : 0, .bytes = AllBytes(c)};
}

constexpr AttrDef kResizeAttrs[] = {{"mode", AttrKind::kString},
                                    {"coordinate_transformation_mode", AttrKind::kString},
                                    {"nearest_mode", AttrKind::kString},
                                    {"layout", AttrKind::kString}};

}  // namespace
}  // namespace ops

constinit const ops::OpDef op::resize = {
    .name = "resize",
    .summary =
        "x at other sizes, nearest or linear, by scales or by sizes (both in the order N, C, H, W)",
    .min_inputs = 1,
    .max_inputs = 3,
    .attrs = ops::kResizeAttrs,
    .infer = ops::ResizeInfer,
    .reference = ops::ResizeReference,
    .cost = ops::ResizeCost,
    .loop = ops::LoopShape::kResize,
    .layout = ops::LayoutRule::kSpatial,
    .foreign = {.onnx = "Resize", .tflite = "RESIZE_BILINEAR", .nnrt = "OH_NN_OPS_RESIZE_BILINEAR"},
};

}  // namespace npukit
