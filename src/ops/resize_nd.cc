// What `resize` is too small for: cubic, antialias, regions, chosen axes, kept aspect ratios and
// types that are no numbers. Slow and general; `resize` stays the form that kernels know.
#include <algorithm>
#include <cmath>
#include <optional>

#include "base/text.h"
#include "ops/given.h"
#include "ops/resize.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Dim;
using tensor::DType;
using tensor::Value;

constexpr std::size_t kRoi = 1, kScales = 2, kSizes = 3;
constexpr std::int64_t kMaxElements = std::int64_t{1} << 31;  // of what is between two axes

enum class Kind { kNearest, kLinear, kCubic };
enum class Aspect { kStretch, kNotLarger, kNotSmaller };

struct Mode {
  Kind kind = Kind::kNearest;
  std::optional<ResizeCoordinates> coordinates;  // none: tf_crop_and_resize
  ResizeRounding rounding = ResizeRounding::kPreferFloor;
  bool simple = false;  // down when enlarging, up when shrinking: as opset 10 rounded
  Aspect aspect = Aspect::kStretch;
  bool antialias = false, exclude_outside = false;
  double a = -0.75, extrapolation = 0;
};

template <std::size_t N>
Result<std::size_t> Choose(const Attrs& attrs, std::string_view name,
                           const std::string_view (&names)[N]) {
  const std::string_view value = attrs.String(name, names[0]);
  for (std::size_t i = 0; i < N; ++i) {
    if (value == names[i]) return i;
  }
  return InvalidArgument(Cat(name, " ", Printable(value), " is not known"));
}

Result<Mode> ReadMode(const Attrs& attrs) {
  Mode m;
  NPUKIT_ASSIGN_OR_RETURN(const std::size_t kind,
                          Choose(attrs, "mode", {"nearest", "linear", "cubic"}));
  m.kind = static_cast<Kind>(kind);
  constexpr std::size_t kCrop = 6;
  NPUKIT_ASSIGN_OR_RETURN(
      const std::size_t coordinates,
      Choose(attrs, "coordinate_transformation_mode",
             {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "asymmetric",
              "align_corners", "tf_half_pixel_for_nn", "tf_crop_and_resize"}));
  if (coordinates != kCrop) m.coordinates = static_cast<ResizeCoordinates>(coordinates);
  constexpr std::size_t kSimple = 4;
  NPUKIT_ASSIGN_OR_RETURN(
      const std::size_t rounding,
      Choose(attrs, "nearest_mode",
             {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "simple"}));
  m.simple = rounding == kSimple;
  if (!m.simple) m.rounding = static_cast<ResizeRounding>(rounding);
  NPUKIT_ASSIGN_OR_RETURN(
      const std::size_t aspect,
      Choose(attrs, "keep_aspect_ratio_policy", {"stretch", "not_larger", "not_smaller"}));
  m.aspect = static_cast<Aspect>(aspect);
  m.antialias = attrs.Int("antialias", 0) != 0;
  m.exclude_outside = attrs.Int("exclude_outside", 0) != 0;
  m.a = static_cast<double>(attrs.Float("cubic_coeff_a", -0.75f));
  m.extrapolation = static_cast<double>(attrs.Float("extrapolation_value", 0));
  if (m.antialias && m.kind == Kind::kNearest)
    return InvalidArgument("antialias needs mode linear or cubic");
  return m;
}

struct Axis {
  std::size_t axis = 0;
  std::int64_t in = 0, out = 0;
  float scale = 1;
  double start = 0, end = 1;  // of the region
  bool identity() const { return scale == 1.0f && in == out && start == 0 && end == 1; }
};

bool Given(const Value* v) { return v != nullptr && v->present() && v->count() != 0; }

Result<std::vector<std::size_t>> NamedAxes(const Attrs& attrs, std::size_t rank) {
  Ints named = attrs.IntList("axes");
  if (attrs.Find("axes") == nullptr) {
    for (std::size_t i = 0; i < rank; ++i) named.push_back(static_cast<std::int64_t>(i));
  }
  NPUKIT_RETURN_IF_ERROR(AxisMask(named, rank).status());
  std::vector<std::size_t> axes;
  for (const std::int64_t a : named) {
    NPUKIT_ASSIGN_OR_RETURN(const std::size_t axis, NormalAxis(a, rank));
    axes.push_back(axis);
  }
  return axes;
}

Status CheckCount(const char* name, const Value* list, std::size_t expected) {
  if (!Given(list) || list->count() == static_cast<std::int64_t>(expected)) return OkStatus();
  return InvalidArgument(Cat(name, " has ", list->count(), " numbers, expected ", expected));
}

// Sizes and scales of the named axes of a shape whose sizes are known.
Result<std::vector<Axis>> Plan(const Attrs& attrs, const Mode& mode, const tensor::Dims& x,
                               const Value* roi, const Value* scales, const Value* sizes) {
  NPUKIT_ASSIGN_OR_RETURN(const auto named, NamedAxes(attrs, x.size()));
  if (Given(scales) == Given(sizes)) return InvalidArgument("expected either scales or sizes");
  NPUKIT_RETURN_IF_ERROR(CheckCount("scales", scales, named.size()));
  NPUKIT_RETURN_IF_ERROR(CheckCount("sizes", sizes, named.size()));
  const bool crop = !mode.coordinates;
  if (crop) NPUKIT_RETURN_IF_ERROR(CheckCount("roi", roi, 2 * named.size()));
  if (crop && !Given(roi)) return InvalidArgument("tf_crop_and_resize needs roi");
  std::vector<Axis> plan;
  double common = 0;
  for (std::size_t i = 0; i < named.size(); ++i) {
    const auto k = static_cast<std::int64_t>(i);
    Axis a{.axis = named[i], .in = x[named[i]]};
    if (crop) {
      a.start = tensor::ElementAsDouble(*roi, k);
      a.end = tensor::ElementAsDouble(*roi, k + static_cast<std::int64_t>(named.size()));
      if (!std::isfinite(a.start) || !std::isfinite(a.end))
        return InvalidArgument("roi holds a number that is not finite");
    }
    if (Given(sizes)) {
      a.out = tensor::ElementAsInt64(*sizes, k);
      if (a.out < 0 || a.out > std::int64_t{1} << 40)
        return InvalidArgument(Cat("sizes holds ", a.out));
      if (a.in == 0 && a.out != 0)
        return InvalidArgument(Cat("dimension ", a.axis, " is 0 and cannot become ", a.out));
      const double ratio = a.in == 0 ? 1 : static_cast<double>(a.out) / static_cast<double>(a.in);
      a.scale = static_cast<float>(ratio);
      common = i == 0                              ? ratio
               : mode.aspect == Aspect::kNotLarger ? std::min(common, ratio)
                                                   : std::max(common, ratio);
    } else {
      a.scale = static_cast<float>(tensor::ElementAsDouble(*scales, k));
      NPUKIT_ASSIGN_OR_RETURN(a.out, ScaledSize(a.in, a.scale));
    }
    plan.push_back(a);
  }
  if (Given(sizes) && mode.aspect != Aspect::kStretch) {
    for (Axis& a : plan) {
      const double out = std::floor(common * static_cast<double>(a.in) + 0.5);
      if (!(out <= 0x1p40))
        return ResourceExhausted(Cat("dimension ", a.axis, " becomes too long"));
      a.out = static_cast<std::int64_t>(out);
      a.scale = static_cast<float>(common);
    }
  }
  return plan;
}

// What follows for single dimensions while others, or one of the lists, are not known.
Status InferPartly(const Mode& mode, const std::vector<std::size_t>& named, const Value* scales,
                   const Value* sizes, std::vector<Dim>& dims) {
  const auto holds = [&](const Value* list) {
    return Given(list) && list->count() == static_cast<std::int64_t>(named.size());
  };
  for (std::size_t i = 0; i < named.size(); ++i) {
    Dim& d = dims[named[i]];
    const auto k = static_cast<std::int64_t>(i);
    if (holds(sizes) && mode.aspect == Aspect::kStretch) {
      const std::int64_t out = tensor::ElementAsInt64(*sizes, k);
      if (out < 0) return InvalidArgument(Cat("sizes holds ", out));
      d = Dim::Of(out);
    } else if (holds(scales)) {
      const auto scale = static_cast<float>(tensor::ElementAsDouble(*scales, k));
      NPUKIT_ASSIGN_OR_RETURN(const std::int64_t out, ScaledSize(d.known() ? d.value : 1, scale));
      if (scale != 1.0f) d = d.known() ? Dim::Of(out) : Dim{};
    } else {
      d = Dim{};
    }
  }
  return OkStatus();
}

Status Infer(InferContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(const Mode mode, ReadMode(c.attrs));
  const tensor::Type& x = c.inputs[0];
  const bool moves_only = mode.kind == Kind::kNearest && mode.coordinates;
  if (!moves_only && x.dtype != DType::kBool) NPUKIT_RETURN_IF_ERROR(WantNumber(c, 0));
  for (const std::size_t i : {kRoi, kScales}) {
    if (Has(c, i)) NPUKIT_RETURN_IF_ERROR(WantFloat(c, i));
  }
  if (Has(c, kSizes)) NPUKIT_RETURN_IF_ERROR(WantIndexList(c, kSizes, false));
  c.outputs[0] = tensor::Type::Tensor(x.dtype, x.shape);
  if (!x.shape) return OkStatus();
  std::vector<Dim>& dims = c.outputs[0].shape->dims;
  NPUKIT_ASSIGN_OR_RETURN(const auto named, NamedAxes(c.attrs, dims.size()));
  bool known = x.is_static();
  const auto constant = [&](std::size_t i) { return Has(c, i) ? c.constants[i] : nullptr; };
  for (const std::size_t i : {kScales, kSizes}) known = known && (!IsGiven(c, i) || constant(i));
  if (!mode.coordinates) known = known && (!IsGiven(c, kRoi) || constant(kRoi));
  if (!known) return InferPartly(mode, named, constant(kScales), constant(kSizes), dims);
  NPUKIT_ASSIGN_OR_RETURN(const auto plan, Plan(c.attrs, mode, x.dims(), constant(kRoi),
                                                constant(kScales), constant(kSizes)));
  for (const Axis& a : plan) dims[a.axis] = Dim::Of(a.out);
  return OkStatus();
}

// In T: nearest in fp32, whose ties are those of other runtimes; the others in fp64.
template <class T>
T Source(const Mode& mode, const Axis& a, std::int64_t i) {
  if (mode.coordinates)
    return ResizeSource<T>(*mode.coordinates, i, static_cast<T>(a.scale), a.in, a.out);
  const T last = static_cast<T>(a.in - 1);
  const T start = static_cast<T>(a.start), end = static_cast<T>(a.end);
  if (a.out == 1) return static_cast<T>(0.5) * (start + end) * last;
  return start * last + static_cast<T>(i) * (end - start) * last / static_cast<T>(a.out - 1);
}

// Result i of an axis: `weight[k]` of element first + k, those outside being the nearest inside;
// or the extrapolation value.
struct Taps {
  bool outside = false;
  std::int64_t first = 0;
  std::vector<double> weight;
};

double Cubic(double a, double x) {
  x = std::fabs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

void Locate(const Mode& mode, const Axis& a, std::int64_t i, Taps* taps) {
  taps->weight.clear();
  const double x = Source<double>(mode, a, i);
  const auto last = static_cast<double>(a.in - 1);
  taps->outside = !mode.coordinates && (x < 0 || x > last);
  if (taps->outside) return;
  if (mode.kind == Kind::kNearest) {
    const float source = std::clamp(Source<float>(mode, a, i), -1.0f, static_cast<float>(a.in));
    const ResizeRounding rounding = !mode.simple     ? mode.rounding
                                    : a.scale < 1.0f ? ResizeRounding::kCeil
                                                     : ResizeRounding::kFloor;
    taps->first = RoundResizeSource(rounding, source);
    taps->weight.push_back(1);
    return;
  }
  // Antialias widens the filter when shrinking.
  const double scale = mode.antialias ? std::min(static_cast<double>(a.scale), 1.0) : 1.0;
  const double reach = mode.kind == Kind::kCubic ? 2 : 1;
  const double at = std::clamp(x, -reach / scale - 1, last + reach / scale + 1);
  const double floor = std::floor(at);
  const auto before = static_cast<std::int64_t>(std::floor(-reach / scale)) + 1;
  taps->first = static_cast<std::int64_t>(floor) + before;
  double sum = 0;
  for (std::int64_t k = before; k < 2 - before; ++k) {
    const double distance = (floor + static_cast<double>(k) - at) * scale;
    double w = mode.kind == Kind::kCubic ? Cubic(mode.a, distance)
                                         : std::max(0.0, 1 - std::fabs(distance));
    const std::int64_t element = taps->first + (k - before);
    if (mode.exclude_outside && (element < 0 || element >= a.in)) w = 0;
    taps->weight.push_back(w);
    sum += w;
  }
  if (sum == 0 || (!mode.antialias && !mode.exclude_outside)) return;
  for (double& w : taps->weight) w /= sum;
}

// One axis after the other, in double.
Status Mix(const Mode& mode, const std::vector<Axis>& plan, const Value& x, Value& y) {
  tensor::Dims dims = x.dims();
  std::vector<double> now(static_cast<std::size_t>(x.count()));
  for (std::int64_t i = 0; i < x.count(); ++i) now[static_cast<std::size_t>(i)] = Load(x, i);
  Taps taps;
  for (const Axis& a : plan) {
    if (a.identity()) continue;
    const std::int64_t row = tensor::DenseStrides(dims)[a.axis];
    dims[a.axis] = a.out;
    const auto count = tensor::ElementCount(dims);
    if (!count || *count > kMaxElements) return ResourceExhausted("the result is too large");
    std::vector<double> next(static_cast<std::size_t>(*count));
    const std::int64_t outer = *count / (a.out * row);
    for (std::int64_t i = 0; i < a.out; ++i) {
      Locate(mode, a, i, &taps);
      for (std::int64_t o = 0; o < outer; ++o) {
        for (std::int64_t r = 0; r < row; ++r) {
          double sum = taps.outside ? mode.extrapolation : 0;
          for (std::size_t k = 0; k < taps.weight.size(); ++k) {
            if (taps.weight[k] == 0) continue;
            const std::int64_t from =
                std::clamp<std::int64_t>(taps.first + static_cast<std::int64_t>(k), 0, a.in - 1);
            sum += taps.weight[k] * now[static_cast<std::size_t>((o * a.in + from) * row + r)];
          }
          next[static_cast<std::size_t>((o * a.out + i) * row + r)] = sum;
        }
      }
    }
    now = std::move(next);
  }
  const bool floats = IsRealFloat(y.dtype());
  for (std::int64_t i = 0; i < y.count(); ++i) {
    const double v = now[static_cast<std::size_t>(i)];
    Store(y, i, floats ? v : std::trunc(v));
  }
  return OkStatus();
}

// Nearest moves elements of any type.
void Move(const Mode& mode, const std::vector<Axis>& plan, const Value& x, Value& y) {
  std::vector<std::vector<std::int64_t>> from(x.dims().size());
  Taps taps;
  for (const Axis& a : plan) {
    if (a.identity()) continue;
    for (std::int64_t i = 0; i < a.out; ++i) {
      Locate(mode, a, i, &taps);
      from[a.axis].push_back(std::clamp<std::int64_t>(taps.first, 0, a.in - 1));
    }
  }
  const tensor::Dims strides = tensor::DenseStrides(x.dims());
  const tensor::Dims out_strides = tensor::DenseStrides(y.dims());
  for (std::int64_t i = 0; i < y.count(); ++i) {
    std::int64_t at = 0;
    for (std::size_t d = 0; d < strides.size(); ++d) {
      const std::int64_t k = i / out_strides[d] % y.dims()[d];
      at += (from[d].empty() ? k : from[d][static_cast<std::size_t>(k)]) * strides[d];
    }
    CopyElement(y, i, x, at);
  }
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  NPUKIT_ASSIGN_OR_RETURN(const Mode mode, ReadMode(*c.attrs));
  const Value& x = c.inputs[0];
  const auto input = [&](std::size_t i) { return i < c.inputs.size() ? &c.inputs[i] : nullptr; };
  NPUKIT_ASSIGN_OR_RETURN(
      const auto plan, Plan(*c.attrs, mode, x.dims(), input(kRoi), input(kScales), input(kSizes)));
  if (y.count() == 0) return OkStatus();
  for (const Axis& a : plan) {
    if (a.out > kMaxResizedSize) {
      return ResourceExhausted(
          Cat("dimension ", a.axis, " becomes ", a.out, ", the limit is ", kMaxResizedSize));
    }
  }
  if (mode.kind != Kind::kNearest || !mode.coordinates) return Mix(mode, plan, x, y);
  Move(mode, plan, x, y);
  return OkStatus();
}

OpCost ResizeCost(const CostContext& c) {
  const double taps = c.attrs.String("mode") == "cubic" ? 16 : 4;
  return {.vector_ops = taps * CountOf(c.outputs[0]), .bytes = AllBytes(c)};
}

constexpr AttrDef kAttrs[] = {{"antialias", AttrKind::kInt},
                              {"axes", AttrKind::kInts},
                              {"coordinate_transformation_mode", AttrKind::kString},
                              {"cubic_coeff_a", AttrKind::kFloat},
                              {"exclude_outside", AttrKind::kInt},
                              {"extrapolation_value", AttrKind::kFloat},
                              {"keep_aspect_ratio_policy", AttrKind::kString},
                              {"mode", AttrKind::kString},
                              {"nearest_mode", AttrKind::kString}};

}  // namespace

constinit const OpDef op::resize_nd = {
    .name = "resize_nd",
    .summary =
        "x at other sizes in every way that ONNX has: cubic, antialias, regions, chosen axes, kept "
        "aspect ratio",
    .min_inputs = 1,
    .max_inputs = 4,
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = ResizeCost,
    .loop = LoopShape::kOther,
};

}  // namespace npukit
