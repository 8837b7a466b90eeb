#include <cmath>

#include "ops/conv_nd.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Dim;
using tensor::Dims;
using tensor::Value;

// x, w, offset, bias?, mask?. The rule of a convolution, and that of offset: [N, offset_group *
// positions of the kernel * spatial dimensions, D of the result...]; mask: the same without the
// dimensions.
Status Infer(InferContext& c) {
  const std::array<tensor::Type, 3> conv_types = {
      c.inputs[0], c.inputs[1], c.inputs.size() > 3 ? c.inputs[3] : tensor::Type{}};
  const std::array<const Value*, 3> none{};
  InferContext conv{conv_types, none, c.attrs, c.outputs};
  NPUKIT_RETURN_IF_ERROR(InferConvNd(conv, false));
  NPUKIT_RETURN_IF_ERROR(WantSameDType(c, 0, 2));
  if (Has(c, 4)) NPUKIT_RETURN_IF_ERROR(WantSameDType(c, 0, 4));
  const std::int64_t groups = c.attrs.Int("offset_group", 1);
  if (groups < 1) return InvalidArgument(Cat("offset_group is ", groups, ", expected 1 or more"));
  const auto& x = c.inputs[0].shape;
  const auto& w = c.inputs[1].shape;
  if (x && x->dims[1].known() && x->dims[1].value % groups != 0) {
    return InvalidArgument(
        Cat("x has ", x->dims[1].value, " channels, not a multiple of offset_group ", groups));
  }
  const AttrValue* given = c.attrs.Find("kernel_shape");
  std::int64_t positions = groups;
  bool known = w.has_value();
  for (std::size_t d = 2; w && d < w->rank(); ++d) {
    if (given != nullptr) {
      const Ints& kernel = std::get<Ints>(*given);
      if (kernel.size() != w->rank() - 2 || !SameDim(w->dims[d], Dim{kernel[d - 2], {}}).ok()) {
        return InvalidArgument(
            Cat("kernel_shape is [", JoinInts(kernel, ", "), "], w is ", c.inputs[1].ToString()));
      }
    }
    known = known && w->dims[d].known();
    if (known && __builtin_mul_overflow(positions, w->dims[d].value, &positions))
      return InvalidArgument(Cat("w is ", c.inputs[1].ToString(), ", too large a kernel"));
  }
  auto& y = c.outputs[0].shape;
  for (const std::size_t i : {std::size_t{2}, std::size_t{4}}) {
    if (!Has(c, i) || !c.inputs[i].shape) continue;
    const tensor::Shape& s = *c.inputs[i].shape;
    bool fits = s.rank() >= 3 && (!y || s.rank() == y->rank());
    std::int64_t channels = positions;
    const auto n = static_cast<std::int64_t>(s.rank()) - 2;
    if (fits && i == 2) fits = !__builtin_mul_overflow(channels, n, &channels);
    fits = fits && (!known || SameDim(s.dims[1], Dim::Of(channels)).ok());
    for (std::size_t d = 0; fits && y && d < s.rank(); ++d) {
      if (d == 1) continue;
      auto same = SameDim(s.dims[d], y->dims[d]);
      fits = same.ok();
      if (fits) y->dims[d] = *same;
    }
    if (!fits) {
      return InvalidArgument(Cat(i == 2 ? "offset" : "mask", " is ", c.inputs[i].ToString(),
                                 ", expected ", known ? Cat(channels) : std::string("?"),
                                 " channels over the places of the result ",
                                 c.outputs[0].ToString()));
    }
  }
  return OkStatus();
}

// x of one channel at a place between its elements: linear in each dimension; 0 outside.
double Sample(const Value& x, std::int64_t from, const Dims& spatial, const Dims& strides,
              const std::vector<double>& place) {
  const std::size_t n = spatial.size();
  for (std::size_t d = 0; d < n; ++d) {
    if (!(place[d] > -1 && place[d] < static_cast<double>(spatial[d]))) return 0;
  }
  double sum = 0;
  for (std::uint64_t corner = 0; corner < std::uint64_t{1} << n; ++corner) {
    double weight = 1;
    std::int64_t at = from;
    bool inside = true;
    for (std::size_t d = 0; d < n && inside; ++d) {
      const double low = std::floor(place[d]);
      const bool up = ((corner >> d) & 1) != 0;
      const std::int64_t i = static_cast<std::int64_t>(low) + (up ? 1 : 0);
      weight *= up ? place[d] - low : 1 - (place[d] - low);
      inside = i >= 0 && i < spatial[d];
      at += i * strides[d];
    }
    if (inside) sum += weight * Load(x, at);
  }
  return sum;
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  const Value& x = c.inputs[0];
  const Value& w = c.inputs[1];
  const Value& offset = c.inputs[2];
  const Value* bias = c.inputs.size() > 3 && c.inputs[3].present() ? &c.inputs[3] : nullptr;
  const Value* mask = c.inputs.size() > 4 && c.inputs[4].present() ? &c.inputs[4] : nullptr;
  if (y.count() == 0) return OkStatus();
  const Dims spatial = SpatialDims(x.dims());
  const Dims kernel = SpatialDims(w.dims());
  const Dims out = SpatialDims(y.dims());
  const std::size_t n = spatial.size();
  if (n > 8) return Unsupported(Cat("x has ", n, " spatial dimensions, expected 8 or fewer"));
  NPUKIT_ASSIGN_OR_RETURN(const auto axes, ReadWindowAxes(*c.attrs, kernel));
  std::vector<std::int64_t> pad(n);
  for (std::size_t d = 0; d < n; ++d) {
    NPUKIT_ASSIGN_OR_RETURN(const WindowSpan s, SlideAxis(axes[d], spatial[d], "x"));
    pad[d] = s.pad_begin;
  }
  const Dims strides = tensor::DenseStrides(spatial);
  const std::int64_t in_channels = x.dims()[1];
  const std::int64_t out_channels = w.dims()[0];
  const std::int64_t in_per_group = w.dims()[1];
  const std::int64_t out_per_group = out_channels / c.attrs->Int("group", 1);
  const std::int64_t offset_groups = c.attrs->Int("offset_group", 1);
  const std::int64_t in_per_offset = in_channels / offset_groups;
  const std::int64_t x_plane = *tensor::ElementCount(spatial);
  const std::int64_t k_plane = *tensor::ElementCount(kernel);
  const std::int64_t y_plane = *tensor::ElementCount(out);
  const auto dimensions = static_cast<std::int64_t>(n);
  std::vector<double> place(n);
  std::int64_t to = 0;
  for (std::int64_t image = 0; image < x.dims()[0]; ++image) {
    for (std::int64_t o = 0; o < out_channels; ++o) {
      Dims at(n, 0);
      for (std::int64_t p = 0; p < y_plane; ++p) {
        double sum = bias ? Load(*bias, o) : 0;
        for (std::int64_t i = 0; i < in_per_group; ++i) {
          const std::int64_t channel = o / out_per_group * in_per_group + i;
          const std::int64_t group = image * offset_groups + channel / in_per_offset;
          Dims k(n, 0);
          for (std::int64_t q = 0; q < k_plane; ++q) {
            for (std::size_t d = 0; d < n; ++d) {
              const std::int64_t moved =
                  ((group * k_plane + q) * dimensions + static_cast<std::int64_t>(d)) * y_plane + p;
              place[d] =
                  static_cast<double>(at[d] * axes[d].stride - pad[d] + k[d] * axes[d].dilation) +
                  Load(offset, moved);
            }
            const double m = mask ? Load(*mask, (group * k_plane + q) * y_plane + p) : 1;
            sum += m * Load(w, (o * in_per_group + i) * k_plane + q) *
                   Sample(x, (image * in_channels + channel) * x_plane, spatial, strides, place);
            NextIndex(kernel, k);
          }
        }
        Store(y, to++, sum);
        NextIndex(out, at);
      }
    }
  }
  return OkStatus();
}

// Each product takes an element between all corners around it.
OpCost DeformCost(const CostContext& c) {
  OpCost cost = ConvNdCost(c);
  if (c.inputs[0].shape && c.inputs[0].shape->rank() > 2)
    cost.vector_ops = cost.macs * 4 * std::exp2(static_cast<double>(c.inputs[0].shape->rank() - 2));
  return cost;
}

constexpr AttrDef kAttrs[] = {{"strides", AttrKind::kInts},     {"pads", AttrKind::kInts},
                              {"dilations", AttrKind::kInts},   {"group", AttrKind::kInt},
                              {"offset_group", AttrKind::kInt}, {"kernel_shape", AttrKind::kInts}};

}  // namespace

constinit const OpDef op::deform_conv = {
    .name = "deform_conv",
    .summary =
        "convolution whose every position of the kernel is moved by offset, x taken linearly "
        "between its elements and weighted by mask",
    .min_inputs = 3,
    .max_inputs = 5,
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = DeformCost,
    .loop = LoopShape::kOther,
    .layout = LayoutRule::kFixed,
    .foreign = {.onnx = "DeformConv"},
};

}  // namespace npukit
