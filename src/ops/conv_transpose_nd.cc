#include "ops/conv_nd.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Dims;
using tensor::Value;

Status Infer(InferContext& c) { return InferConvNd(c, true); }

// Written as a gather, so that each result is summed once.
Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  const Value& x = c.inputs[0];
  const Value& w = c.inputs[1];
  const Value* bias = c.inputs.size() > 2 && c.inputs[2].present() ? &c.inputs[2] : nullptr;
  if (y.count() == 0) return OkStatus();
  const Dims kernel = SpatialDims(w.dims());
  NPUKIT_ASSIGN_OR_RETURN(auto axes, ReadWindowAxes(*c.attrs, kernel));
  NPUKIT_ASSIGN_OR_RETURN(PlacedWindow window,
                          PlacedWindow::Spread(std::move(axes), SpatialDims(x.dims())));
  const std::int64_t in_channels = x.dims()[1];
  const std::int64_t out_channels = y.dims()[1];
  const std::int64_t out_per_group = w.dims()[1];
  const std::int64_t in_per_group = in_channels / c.attrs->Int("group", 1);
  const std::int64_t x_plane = *tensor::ElementCount(SpatialDims(x.dims()));
  const std::int64_t w_plane = *tensor::ElementCount(kernel);
  std::int64_t to = 0;
  for (std::int64_t n = 0; n < x.dims()[0]; ++n) {
    for (std::int64_t o = 0; o < out_channels; ++o) {
      const std::int64_t first = o / out_per_group * in_per_group;
      Dims at(kernel.size(), 0);
      do {
        double sum = bias ? Load(*bias, o) : 0;
        for (std::int64_t i = first; i < first + in_per_group; ++i) {
          const std::int64_t from = (n * in_channels + i) * x_plane;
          const std::int64_t by = (i * out_per_group + o % out_per_group) * w_plane;
          window.ForEach(at, [&](std::int64_t px, std::int64_t pw) {
            sum += Load(x, from + px) * Load(w, by + pw);
          });
        }
        Store(y, to++, sum);
      } while (NextIndex(window.out(), at));
    }
  }
  return OkStatus();
}

constexpr AttrDef kAttrs[] = {{"strides", AttrKind::kInts},     {"pads", AttrKind::kInts},
                              {"dilations", AttrKind::kInts},   {"group", AttrKind::kInt},
                              {"auto_pad", AttrKind::kString},  {"output_padding", AttrKind::kInts},
                              {"output_shape", AttrKind::kInts}};

}  // namespace

constinit const OpDef op::conv_transpose_nd = {
    .name = "conv_transpose_nd",
    .summary =
        "transposed convolution over any number of dimensions: x [N, C, D...], w [C, O/group, "
        "K...]",
    .min_inputs = 2,
    .max_inputs = 3,
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = ConvNdCost,
    .loop = LoopShape::kOther,
    .layout = LayoutRule::kFixed,
    .foreign = {.tflite = "CONV_3D_TRANSPOSE"},
};

}  // namespace npukit
