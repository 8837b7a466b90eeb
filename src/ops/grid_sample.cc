#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Dim;
using tensor::DType;
using tensor::Value;

enum class Mode { kLinear, kNearest, kCubic };
enum class Padding { kZeros, kBorder, kReflection };
struct Options {
  Mode mode = Mode::kLinear;
  Padding padding = Padding::kZeros;
  bool align_corners = false;
};

constexpr std::size_t kMaxAxes = 8;

Result<Options> ReadOptions(const Attrs& attrs) {
  Options o;
  const std::string_view mode = attrs.String("mode", "linear");
  if (mode == "linear" || mode == "bilinear") {
    o.mode = Mode::kLinear;
  } else if (mode == "cubic" || mode == "bicubic") {
    o.mode = Mode::kCubic;
  } else if (mode == "nearest") {
    o.mode = Mode::kNearest;
  } else {
    return InvalidArgument(
        Cat("mode ", Printable(mode), " is not known: linear, nearest or cubic"));
  }
  const std::string_view padding = attrs.String("padding_mode", "zeros");
  if (padding == "border") {
    o.padding = Padding::kBorder;
  } else if (padding == "reflection") {
    o.padding = Padding::kReflection;
  } else if (padding != "zeros") {
    return InvalidArgument(
        Cat("padding_mode ", Printable(padding), " is not known: zeros, border or reflection"));
  }
  o.align_corners = attrs.Int("align_corners", 0) != 0;
  return o;
}

Status Infer(InferContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(const Options o, ReadOptions(c.attrs));
  NPUKIT_RETURN_IF_ERROR(WantFloat(c, 1));
  const tensor::Type& x = c.inputs[0];
  const tensor::Type& grid = c.inputs[1];
  if (o.mode != Mode::kNearest && x.dtype != DType::kBool) NPUKIT_RETURN_IF_ERROR(WantNumber(c, 0));
  c.outputs[0] = tensor::Type::Tensor(x.dtype, std::nullopt);
  const auto& shape = x.shape ? x.shape : grid.shape;
  if (!shape) return OkStatus();
  const std::size_t rank = shape->rank();
  if (rank < 3 || rank > kMaxAxes + 2)
    return InvalidArgument(Cat("found rank ", rank, ", expected 3 to ", kMaxAxes + 2));
  std::vector<Dim> dims(rank);
  if (x.shape) {
    dims[0] = x.shape->dims[0];
    dims[1] = x.shape->dims[1];
  }
  if (grid.shape) {
    if (grid.shape->rank() != rank)
      return InvalidArgument(Cat("input 1 is ", grid.ToString(), ", expected rank ", rank));
    const Dim& places = grid.shape->dims.back();
    if (places.known() && places.value != static_cast<std::int64_t>(rank) - 2) {
      return InvalidArgument(
          Cat("a place of the grid has ", places.value, " numbers, expected ", rank - 2));
    }
    const auto n = SameDim(dims[0], grid.shape->dims[0]);
    if (!n.ok()) return n.status().WithContext("batches of x and grid");
    dims[0] = *n;
    for (std::size_t d = 2; d < rank; ++d) dims[d] = grid.shape->dims[d - 1];
  }
  c.outputs[0].shape = tensor::Shape(std::move(dims));
  return OkStatus();
}

// Back and forth between the borders until it is within.
double Reflect(double x, double low, double high) {
  const double range = high - low;
  if (range <= 0) return low;
  if (x >= low && x <= high) return x;
  const double beyond = x < low ? low - x : x - high;
  const double n = std::floor(beyond / range);
  const double rest = beyond - n * range;
  const bool even = std::fmod(n, 2) == 0;
  return (x < low) == even ? low + rest : high - rest;
}

// One dimension of x at one place: which elements meet with which weights. -1: a zero.
struct Taps {
  int count = 0;
  std::int64_t at[4] = {};
  double weight[4] = {};
};

std::int64_t Element(const Options& o, std::int64_t i, std::int64_t n, double low, double high) {
  if (i >= 0 && i < n) return i;
  if (o.padding == Padding::kZeros) return -1;
  if (o.padding == Padding::kReflection)
    i = static_cast<std::int64_t>(Reflect(static_cast<double>(i), low, high));
  return std::clamp<std::int64_t>(i, 0, n - 1);
}

// `place` is in -1 to 1. The coordinate is worked out in fp32 (fp64 for an fp64 grid), as runtimes
// do: ties of `nearest` depend on it.
template <class T>
Taps TapsOf(const Options& o, T place, std::int64_t n) {
  const auto length = static_cast<T>(n);
  T given = o.align_corners ? (place + 1) / 2 * (length - 1) : ((place + 1) * length - 1) / 2;
  const double low = o.align_corners ? 0 : -0.5;
  const double high = static_cast<double>(n) - (o.align_corners ? 1 : 0.5);
  if (!std::isfinite(given)) given = -1;  // nowhere
  if (o.mode == Mode::kNearest) given = std::nearbyint(given);
  double x = static_cast<double>(given);
  if (x < low || x > high) {
    if (o.padding == Padding::kBorder) x = std::clamp(x, 0.0, static_cast<double>(n - 1));
    if (o.padding == Padding::kReflection)
      x = static_cast<double>(static_cast<T>(Reflect(x, low, high)));
  }
  // Far outside every element is padding: it need not fit an integer.
  x = std::clamp(x, -8.0, static_cast<double>(n) + 8);
  Taps taps;
  const double floor = std::floor(x);
  const auto first = static_cast<std::int64_t>(floor);
  const double t = x - floor;
  const auto tap = [&](std::int64_t i, double weight) {
    taps.at[taps.count] = Element(o, i, n, low, high);
    taps.weight[taps.count++] = weight;
  };
  if (o.mode == Mode::kNearest) {
    tap(first, 1);
  } else if (o.mode == Mode::kLinear) {
    tap(first, 1 - t);
    tap(first + 1, t);
  } else {
    constexpr double a = -0.75;
    const auto near = [](double d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
    const auto far = [](double d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
    tap(first - 1, far(t + 1));
    tap(first, near(t));
    tap(first + 1, near(1 - t));
    tap(first + 2, far(2 - t));
  }
  return taps;
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  NPUKIT_ASSIGN_OR_RETURN(const Options o, ReadOptions(*c.attrs));
  const Value& x = c.inputs[0];
  const Value& grid = c.inputs[1];
  if (y.count() == 0) return OkStatus();
  const std::size_t axes = x.dims().size() - 2;
  for (std::size_t d = 0; d < axes; ++d) {
    if (x.dims()[d + 2] == 0) return InvalidArgument("x has no elements to sample");
  }
  NPUKIT_ASSIGN_OR_RETURN(Value zero, Value::Allocate(x.dtype(), {1}));
  if (zero.byte_size() != 0) __builtin_memset(zero.mutable_data(), 0, zero.byte_size());
  const tensor::Dims strides = tensor::DenseStrides(x.dims());
  const std::int64_t places = grid.count() / static_cast<std::int64_t>(axes) / x.dims()[0];
  const std::int64_t channels = x.dims()[1];
  const bool wide = grid.dtype() == DType::kF64;
  const bool floats = IsRealFloat(x.dtype());
  Taps taps[kMaxAxes];
  for (std::int64_t p = 0; p < places * x.dims()[0]; ++p) {
    const std::int64_t n = p / places;
    for (std::size_t d = 0; d < axes; ++d) {  // the grid names the last dimension first
      const double place =
          Load(grid, (p + 1) * static_cast<std::int64_t>(axes) - 1 - static_cast<std::int64_t>(d));
      taps[d] = wide ? TapsOf<double>(o, place, x.dims()[d + 2])
                     : TapsOf<float>(o, static_cast<float>(place), x.dims()[d + 2]);
    }
    std::int64_t corners = 1;
    for (std::size_t d = 0; d < axes; ++d) corners *= taps[d].count;
    for (std::int64_t channel = 0; channel < channels; ++channel) {
      const std::int64_t base = n * strides[0] + channel * strides[1];
      const std::int64_t to = (n * channels + channel) * places + p % places;
      double sum = 0;
      for (std::int64_t corner = 0; corner < corners; ++corner) {
        double weight = 1;
        std::int64_t from = base, rest = corner;
        for (std::size_t d = 0; d < axes; ++d) {
          const auto k = static_cast<std::size_t>(rest % taps[d].count);
          rest /= taps[d].count;
          weight *= taps[d].weight[k];
          from = from < 0 || taps[d].at[k] < 0 ? -1 : from + taps[d].at[k] * strides[d + 2];
        }
        if (o.mode == Mode::kNearest) {
          CopyElement(y, to, from < 0 ? zero : x, from < 0 ? 0 : from);
        } else if (from >= 0 && weight != 0) {
          sum += weight * Load(x, from);
        }
      }
      if (o.mode != Mode::kNearest) Store(y, to, floats ? sum : std::trunc(sum));
    }
  }
  return OkStatus();
}

OpCost GridCost(const CostContext& c) {
  const std::string_view mode = c.attrs.String("mode");
  const double side = mode == "nearest" ? 1 : mode == "cubic" || mode == "bicubic" ? 4 : 2;
  const std::size_t rank = c.outputs[0].shape ? c.outputs[0].shape->rank() : 4;
  const double taps = std::pow(side, static_cast<double>(std::max<std::size_t>(rank, 2) - 2));
  return {.vector_ops = (8 + 3 * taps) * CountOf(c.outputs[0]), .bytes = AllBytes(c)};
}

constexpr AttrDef kAttrs[] = {{"align_corners", AttrKind::kInt},
                              {"mode", AttrKind::kString},
                              {"padding_mode", AttrKind::kString}};

}  // namespace

constinit const OpDef op::grid_sample = {
    .name = "grid_sample",
    .summary = "x at the places that a grid names, in -1 to 1: linear, nearest or cubic",
    .min_inputs = 2,
    .max_inputs = 2,
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = GridCost,
    .loop = LoopShape::kOther,
    .foreign = {.onnx = "GridSample"},
};

}  // namespace npukit
