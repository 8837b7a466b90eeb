// What max_pool2d and avg_pool2d share.
#pragma once

#include "ops/rules.h"
#include "ops/window.h"

namespace npukit::ops {

inline Status InferPool(InferContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(const Window window, ReadPoolWindow(c.attrs));
  const tensor::Type& x = c.inputs[0];
  c.outputs[0] = tensor::Type::Tensor(x.dtype, std::nullopt);
  if (!x.shape) return OkStatus();
  NPUKIT_ASSIGN_OR_RETURN(const ImageShape image, ImageOf(*x.shape, window.nhwc));
  ImageShape y{image.n, image.c, {}, {}};
  NPUKIT_ASSIGN_OR_RETURN(y.h, SlideOver(window, 0, image.h));
  NPUKIT_ASSIGN_OR_RETURN(y.w, SlideOver(window, 1, image.w));
  c.outputs[0].shape = ToShape(y, window.nhwc);
  return OkStatus();
}

// For each result: begin(), then take(x) for every element of the window inside the input, then the
// value of end(positions of the window inside the padded input).
template <class Begin, class Take, class End>
Status EvaluatePool(EvalContext& c, InferFn infer, Begin begin, Take take, End end) {
  NPUKIT_ASSIGN_OR_RETURN(tensor::Value y, MakeOutput(c, infer));
  const tensor::Value& x = c.inputs[0];
  NPUKIT_ASSIGN_OR_RETURN(const Window win, ReadPoolWindow(*c.attrs));
  const ImageDims xi = ImageOf(x.dims(), win.nhwc);
  const ImageDims yi = ImageOf(y.dims(), win.nhwc);
  NPUKIT_ASSIGN_OR_RETURN(const WindowSpan rows, SlideOver(win, 0, xi.h));
  NPUKIT_ASSIGN_OR_RETURN(const WindowSpan cols, SlideOver(win, 1, xi.w));
  for (std::int64_t n = 0; n < yi.n; ++n) {
    for (std::int64_t ch = 0; ch < yi.c; ++ch) {
      for (std::int64_t oy = 0; oy < yi.h; ++oy) {
        for (std::int64_t ox = 0; ox < yi.w; ++ox) {
          begin();
          std::int64_t padded = 0;
          for (std::int64_t ky = 0; ky < win.kernel[0]; ++ky) {
            const std::int64_t iy = oy * win.stride[0] - rows.pad_begin + ky * win.dilation[0];
            if (iy >= xi.h + rows.pad_end) break;
            for (std::int64_t kx = 0; kx < win.kernel[1]; ++kx) {
              const std::int64_t ix = ox * win.stride[1] - cols.pad_begin + kx * win.dilation[1];
              if (ix >= xi.w + cols.pad_end) break;
              ++padded;
              if (iy >= 0 && iy < xi.h && ix >= 0 && ix < xi.w) take(Load(x, xi.At(n, ch, iy, ix)));
            }
          }
          Store(y, yi.At(n, ch, oy, ox), end(padded));
        }
      }
    }
  }
  return OkStatus();
}

inline OpCost PoolCost(const CostContext& c) {
  double window = 1;
  for (const std::int64_t k : c.attrs.IntList("kernel_shape")) window *= static_cast<double>(k);
  return {.vector_ops = CountOf(c.outputs[0]) * window, .bytes = AllBytes(c)};
}

}  // namespace npukit::ops
