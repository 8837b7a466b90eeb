#include "base/text.h"
#include "ops/rules.h"
#include "ops/window.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Dim;
using tensor::Value;

Status Infer(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(WantFloat(c, 0));
  NPUKIT_RETURN_IF_ERROR(WantSameDType(c, 0, 1));
  const tensor::Type& x = c.inputs[0];
  const tensor::Type& w = c.inputs[1];
  NPUKIT_ASSIGN_OR_RETURN(const bool nhwc, ReadNhwc(c.attrs));
  const std::int64_t group = c.attrs.Int("group", 1);
  if (group < 1) return InvalidArgument(Cat("group is ", group, ", expected 1 or more"));
  c.outputs[0] = tensor::Type::Tensor(x.dtype, std::nullopt);
  ImageShape image;
  if (x.shape) {
    NPUKIT_ASSIGN_OR_RETURN(image, ImageOf(*x.shape, nhwc));
  }
  std::array<Dim, 4> wd;
  if (w.shape) {
    if (w.shape->rank() != 4)
      return InvalidArgument(Cat("w is ", w.ToString(), ", expected rank 4"));
    for (std::size_t i = 0; i < 4; ++i) wd[i] = w.shape->dims[i];
  }
  std::int64_t expected = 0;
  if (image.c.known() && wd[1].known() &&
      (__builtin_mul_overflow(wd[1].value, group, &expected) || expected != image.c.value)) {
    return InvalidArgument(Cat("expected ", wd[1].value, " x group ", group,
                               " channels in x, as w says, found ", image.c.value));
  }
  if (wd[0].known() && wd[0].value % group != 0) {
    return InvalidArgument(
        Cat("w has ", wd[0].value, " output channels, not a multiple of group ", group));
  }
  if (Has(c, 2)) {
    NPUKIT_RETURN_IF_ERROR(WantSameDType(c, 0, 2));
    const tensor::Type& b = c.inputs[2];
    if (b.shape && (b.shape->rank() != 1 || !SameDim(b.shape->dims[0], wd[0]).ok())) {
      return InvalidArgument(Cat("bias is ", b.ToString(), ", expected one number for each of the ",
                                 wd[0].value, " output channels"));
    }
  }
  if (!x.shape) return OkStatus();
  ImageShape y{image.n, wd[0], {}, {}};
  if (wd[2].known() && wd[3].known()) {
    NPUKIT_ASSIGN_OR_RETURN(const Window window, ReadWindow(c.attrs, {wd[2].value, wd[3].value}));
    NPUKIT_ASSIGN_OR_RETURN(y.h, SlideOver(window, 0, image.h));
    NPUKIT_ASSIGN_OR_RETURN(y.w, SlideOver(window, 1, image.w));
  }
  c.outputs[0].shape = ToShape(y, nhwc);
  return OkStatus();
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  const Value& x = c.inputs[0];
  const Value& w = c.inputs[1];
  const Value* bias = c.inputs.size() > 2 && c.inputs[2].present() ? &c.inputs[2] : nullptr;
  const std::int64_t in_per_group = w.dims()[1];
  NPUKIT_ASSIGN_OR_RETURN(const Window win, ReadWindow(*c.attrs, {w.dims()[2], w.dims()[3]}));
  const ImageDims xi = ImageOf(x.dims(), win.nhwc);
  const ImageDims yi = ImageOf(y.dims(), win.nhwc);
  NPUKIT_ASSIGN_OR_RETURN(const WindowSpan rows, SlideOver(win, 0, xi.h));
  NPUKIT_ASSIGN_OR_RETURN(const WindowSpan cols, SlideOver(win, 1, xi.w));
  const std::int64_t out_per_group = yi.c / c.attrs->Int("group", 1);

  for (std::int64_t n = 0; n < yi.n; ++n) {
    for (std::int64_t o = 0; o < yi.c; ++o) {
      const std::int64_t first_in = o / out_per_group * in_per_group;
      for (std::int64_t oy = 0; oy < yi.h; ++oy) {
        for (std::int64_t ox = 0; ox < yi.w; ++ox) {
          double sum = bias ? Load(*bias, o) : 0;
          for (std::int64_t i = 0; i < in_per_group; ++i) {
            for (std::int64_t ky = 0; ky < win.kernel[0]; ++ky) {
              const std::int64_t iy = oy * win.stride[0] - rows.pad_begin + ky * win.dilation[0];
              if (iy < 0 || iy >= xi.h) continue;
              for (std::int64_t kx = 0; kx < win.kernel[1]; ++kx) {
                const std::int64_t ix = ox * win.stride[1] - cols.pad_begin + kx * win.dilation[1];
                if (ix < 0 || ix >= xi.w) continue;
                sum += Load(x, xi.At(n, first_in + i, iy, ix)) *
                       Load(w, ((o * in_per_group + i) * win.kernel[0] + ky) * win.kernel[1] + kx);
              }
            }
          }
          Store(y, yi.At(n, o, oy, ox), sum);
        }
      }
    }
  }
  return OkStatus();
}

OpCost ConvCost(const CostContext& c) {
  OpCost cost{.bytes = AllBytes(c)};
  const double w = CountOf(c.inputs[1]);
  if (w > 0) cost.macs = CountOf(c.outputs[0]) * w / static_cast<double>(c.inputs[1].dims()[0]);
  return cost;
}

constexpr AttrDef kAttrs[] = {{"strides", AttrKind::kInts},    {"pads", AttrKind::kInts},
                              {"dilations", AttrKind::kInts},  {"group", AttrKind::kInt},
                              {"auto_pad", AttrKind::kString}, {"layout", AttrKind::kString}};

}  // namespace

constinit const OpDef op::conv2d = {
    .name = "conv2d",
    .summary = "2-D convolution of x with w [O, I/group, kh, kw], plus bias [O]",
    .min_inputs = 2,
    .max_inputs = 3,
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = ConvCost,
    .loop = LoopShape::kConv,
    .layout = LayoutRule::kSpatial,
    .foreign = {.onnx = "Conv", .tflite = "CONV_2D", .nnrt = "OH_NN_OPS_CONV2D"},
};

}  // namespace npukit
