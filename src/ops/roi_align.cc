#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "ops/indexing.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Dim;
using tensor::Value;

constexpr std::size_t kRois = 1, kBatches = 2;
constexpr std::int64_t kMaxPooled = 1 << 20;
constexpr std::int64_t kMaxSamples = 1 << 20;  // of one bin

struct Options {
  bool max = false;
  bool half_pixel = true;
  std::int64_t height = 1, width = 1, sampling = 0;
  double scale = 1;
};

Result<Options> ReadOptions(const Attrs& attrs) {
  Options o;
  const std::string_view mode = attrs.String("mode", "avg");
  if (mode != "avg" && mode != "max")
    return InvalidArgument(Cat("mode ", Printable(mode), " is not known: avg or max"));
  o.max = mode == "max";
  const std::string_view coordinates = attrs.String("coordinate_transformation_mode", "half_pixel");
  if (coordinates != "half_pixel" && coordinates != "output_half_pixel") {
    return InvalidArgument(Cat("coordinate_transformation_mode ", Printable(coordinates),
                               " is not known: half_pixel or output_half_pixel"));
  }
  o.half_pixel = coordinates == "half_pixel";
  o.height = attrs.Int("output_height", 1);
  o.width = attrs.Int("output_width", 1);
  o.sampling = attrs.Int("sampling_ratio", 0);
  o.scale = static_cast<double>(attrs.Float("spatial_scale", 1));
  if (o.height < 1 || o.width < 1 || o.height > kMaxPooled || o.width > kMaxPooled ||
      o.sampling < 0 || o.sampling > kMaxPooled) {
    return InvalidArgument(Cat("output_height, output_width and sampling_ratio are ", o.height,
                               ", ", o.width, " and ", o.sampling));
  }
  return o;
}

Status Infer(InferContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(const Options o, ReadOptions(c.attrs));
  NPUKIT_RETURN_IF_ERROR(WantFloat(c, 0));
  NPUKIT_RETURN_IF_ERROR(WantSameDType(c, 0, kRois));
  NPUKIT_RETURN_IF_ERROR(WantIndexList(c, kBatches, false));
  const tensor::Type& x = c.inputs[0];
  const tensor::Type& rois = c.inputs[kRois];
  if (x.shape && x.shape->rank() != 4)
    return InvalidArgument(Cat("input 0 is ", x.ToString(), ", expected rank 4"));
  if (rois.shape && (rois.shape->rank() != 2 ||
                     (rois.shape->dims[1].known() && rois.shape->dims[1].value != 4))) {
    return InvalidArgument(Cat("input 1 is ", rois.ToString(), ", expected rows of 4"));
  }
  std::vector<Dim> dims{Dim{}, Dim{}, Dim::Of(o.height), Dim::Of(o.width)};
  if (rois.shape) dims[0] = rois.shape->dims[0];
  if (c.inputs[kBatches].shape) {
    const auto n = SameDim(dims[0], c.inputs[kBatches].shape->dims[0]);
    if (!n.ok()) return n.status().WithContext("regions and their batches");
    dims[0] = *n;
  }
  if (x.shape) dims[1] = x.shape->dims[1];
  c.outputs[0] = tensor::Type::Tensor(x.dtype, tensor::Shape(std::move(dims)));
  return OkStatus();
}

// The two elements along one side around a place inside x, the second with its weight.
struct Around {
  std::int64_t low = 0, high = 0;
  double weight = 0;
};

Around Locate(double at, std::int64_t n) {
  at = std::max(at, 0.0);
  const auto low = static_cast<std::int64_t>(at);
  if (low >= n - 1) return {n - 1, n - 1, 0};
  return {low, low + 1, at - static_cast<double>(low)};
}

// The samples along one side of a bin that are inside x; those outside count as 0. There may be far
// more of them than x has elements, so the first and the last inside are looked for by halving.
std::vector<Around> Inside(double start, double bin, double size, std::int64_t samples,
                           std::int64_t n) {
  const auto at = [&](std::int64_t k) {
    const double within = (static_cast<double>(k) + 0.5) / static_cast<double>(samples);
    return start + (bin + within) * size;
  };
  // The first for which it is false; it is true for all before.
  const auto first_not = [&](auto before) {
    std::int64_t low = 0, high = samples;
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      before(at(middle)) ? low = middle + 1 : high = middle;
    }
    return low;
  };
  const auto too_low = [](double v) { return !(v >= -1); };
  const auto too_high = [n](double v) { return !(v <= static_cast<double>(n)); };
  const bool up = size >= 0;  // a malformed region goes backwards
  const std::int64_t begin = first_not([&](double v) { return up ? too_low(v) : too_high(v); });
  const std::int64_t end = first_not([&](double v) { return up ? !too_high(v) : !too_low(v); });
  std::vector<Around> inside;
  for (std::int64_t k = begin; k < end; ++k) inside.push_back(Locate(at(k), n));
  return inside;
}

// How many samples along one side of a bin.
Result<std::int64_t> Samples(const Options& o, double extent, std::int64_t bins) {
  if (o.sampling > 0) return o.sampling;
  const double n = std::ceil(extent / static_cast<double>(bins));
  if (!(n <= static_cast<double>(kMaxSamples)))
    return ResourceExhausted(Cat("a region of ", extent, " elements needs too many samples"));
  return std::max<std::int64_t>(static_cast<std::int64_t>(n), 0);
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  NPUKIT_ASSIGN_OR_RETURN(const Options o, ReadOptions(*c.attrs));
  const Value& x = c.inputs[0];
  const std::int64_t channels = x.dims()[1], height = x.dims()[2], width = x.dims()[3];
  if (y.count() == 0) return OkStatus();
  if (height == 0 || width == 0) return InvalidArgument("x has no elements to sample");
  const double offset = o.half_pixel ? 0.5 : 0;
  std::vector<Around> down;
  for (std::int64_t r = 0; r < y.dims()[0]; ++r) {
    NPUKIT_ASSIGN_OR_RETURN(const std::int64_t n, PlaceAt(c.inputs[kBatches], r, x.dims()[0]));
    double side[4];  // x and y of the first and the last corner
    for (int i = 0; i < 4; ++i) side[i] = Load(c.inputs[kRois], r * 4 + i) * o.scale - offset;
    double w = side[2] - side[0], h = side[3] - side[1];
    if (!o.half_pixel) {  // a malformed region is one element
      w = std::max(w, 1.0);
      h = std::max(h, 1.0);
    }
    NPUKIT_ASSIGN_OR_RETURN(const std::int64_t rows, Samples(o, h, o.height));
    NPUKIT_ASSIGN_OR_RETURN(const std::int64_t columns, Samples(o, w, o.width));
    if (rows * columns > kMaxSamples)
      return ResourceExhausted(Cat("a bin would need ", rows * columns, " samples"));
    const double bin_h = h / static_cast<double>(o.height);
    const double bin_w = w / static_cast<double>(o.width);
    const auto samples = static_cast<double>(std::max<std::int64_t>(rows * columns, 1));
    for (std::int64_t bin = 0; bin < o.height * o.width; ++bin) {
      if (bin % o.width == 0)
        down = Inside(side[1], static_cast<double>(bin / o.width), bin_h, rows, height);
      const std::vector<Around> along =
          Inside(side[0], static_cast<double>(bin % o.width), bin_w, columns, width);
      const bool all_inside = std::ssize(down) * std::ssize(along) == rows * columns;
      for (std::int64_t channel = 0; channel < channels; ++channel) {
        const std::int64_t plane = (n * channels + channel) * height * width;
        double sum = 0, top = 0;
        bool first = all_inside;
        for (const Around& v : down) {
          for (const Around& u : along) {
            const std::int64_t at[4] = {v.low * width + u.low, v.low * width + u.high,
                                        v.high * width + u.low, v.high * width + u.high};
            const double weight[4] = {(1 - v.weight) * (1 - u.weight), (1 - v.weight) * u.weight,
                                      v.weight * (1 - u.weight), v.weight * u.weight};
            for (int i = 0; i < 4; ++i) {
              // ONNX's own max is of the weighted elements, not of the interpolated values.
              const double part = weight[i] == 0 ? 0 : weight[i] * Load(x, plane + at[i]);
              sum += part;
              top = first ? part : std::max(top, part);
              first = false;
            }
          }
        }
        Store(y, (r * channels + channel) * o.height * o.width + bin, o.max ? top : sum / samples);
      }
    }
  }
  return OkStatus();
}

// Sampling that adapts takes at most two samples for each element of x along a side, and one more
// for each bin.
OpCost RoiCost(const CostContext& c) {
  OpCost cost{.vector_ops = 32 * CountOf(c.outputs[0]), .bytes = AllBytes(c)};
  const auto o = ReadOptions(c.attrs);
  if (!o.ok() || !c.inputs[0].is_static() || !c.outputs[0].is_static()) return cost;
  const tensor::Dims x = c.inputs[0].dims(), y = c.outputs[0].dims();
  double samples = 1;
  for (const std::size_t d : {std::size_t{2}, std::size_t{3}}) {
    samples *= static_cast<double>(o->sampling > 0 ? y[d] * o->sampling : 2 * (x[d] + 2) + y[d]);
  }
  cost.vector_ops += 8 * samples * static_cast<double>(y[0]) * static_cast<double>(y[1]);
  return cost;
}

constexpr AttrDef kAttrs[] = {{"coordinate_transformation_mode", AttrKind::kString},
                              {"mode", AttrKind::kString},
                              {"output_height", AttrKind::kInt},
                              {"output_width", AttrKind::kInt},
                              {"sampling_ratio", AttrKind::kInt},
                              {"spatial_scale", AttrKind::kFloat}};

}  // namespace

constinit const OpDef op::roi_align = {
    .name = "roi_align",
    .summary = "each region of x as bins: the average (or max) of places sampled within a bin",
    .min_inputs = 3,
    .max_inputs = 3,
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = RoiCost,
    .loop = LoopShape::kOther,
    .foreign = {.onnx = "RoiAlign"},
};

}  // namespace npukit
