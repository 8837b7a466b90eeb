// What the pools over any number of dimensions share.
#pragma once

#include "base/text.h"
#include "ops/conv_nd.h"

namespace npukit::ops {

// kernel_shape; where it is absent, the whole of the spatial dimensions.
inline Result<std::vector<WindowAxis>> PoolAxes(const Attrs& attrs, const tensor::Dims& spatial) {
  if (attrs.Find("kernel_shape") != nullptr)
    return ReadPoolAxes(attrs, attrs.IntList("kernel_shape"));
  std::vector<WindowAxis> axes(spatial.size());
  for (std::size_t i = 0; i < axes.size(); ++i)
    axes[i].kernel = std::max<std::int64_t>(1, spatial[i]);
  return axes;
}

// The shape of the result, from input 0.
inline Result<std::optional<tensor::Shape>> PoolShape(const InferContext& c) {
  const bool whole = c.attrs.Find("kernel_shape") == nullptr;
  const Ints kernel = c.attrs.IntList("kernel_shape");
  NPUKIT_ASSIGN_OR_RETURN(const auto axes, ReadPoolAxes(c.attrs, kernel));
  const tensor::Type& x = c.inputs[0];
  if (!x.shape) return std::optional<tensor::Shape>();
  if (x.shape->rank() < 3)
    return InvalidArgument(Cat("x is ", x.ToString(), ", expected rank 3 or more"));
  const std::size_t n = x.shape->rank() - 2;
  std::vector<tensor::Dim> y(x.shape->dims);
  if (!whole && kernel.size() != n) {
    return InvalidArgument(
        Cat("kernel_shape has ", kernel.size(), " numbers, x is ", x.ToString(), ", expected ", n));
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (whole) {
      y[2 + i] = tensor::Dim::Of(1);
    } else {
      NPUKIT_ASSIGN_OR_RETURN(y[2 + i],
                              SlideAxis(axes[i], x.shape->dims[2 + i], WindowAxisName(i, n)));
    }
  }
  return std::optional<tensor::Shape>(tensor::Shape(std::move(y)));
}

// For each result, in order: begin(), take(offset in x) for every element of the window, then
// end(index of the result, positions of the window inside the padded input).
template <class Begin, class Take, class End>
Status WalkPool(const EvalContext& c, const tensor::Dims& result, Begin begin, Take take, End end) {
  const tensor::Dims& dims = c.inputs[0].dims();
  const auto count = tensor::ElementCount(result);
  if (!count || *count == 0) return OkStatus();
  const tensor::Dims spatial = SpatialDims(dims);
  NPUKIT_ASSIGN_OR_RETURN(auto axes, PoolAxes(*c.attrs, spatial));
  NPUKIT_ASSIGN_OR_RETURN(PlacedWindow window, PlacedWindow::Slid(std::move(axes), spatial));
  if (window.out() != SpatialDims(result)) {
    // Of an empty input, all of it is nothing: no window, but one result for each channel.
    for (std::int64_t i = 0; i < *count; ++i) {
      begin();
      end(i, 0.0);
    }
    return OkStatus();
  }
  const std::int64_t plane = *tensor::ElementCount(spatial);
  std::int64_t to = 0;
  for (std::int64_t channel = 0; channel < dims[0] * dims[1]; ++channel) {
    tensor::Dims at(spatial.size(), 0);
    do {
      begin();
      window.ForEach(at, [&](std::int64_t p, std::int64_t) { take(channel * plane + p); });
      end(to++, window.CountPadded(at));
    } while (NextIndex(window.out(), at));
  }
  return OkStatus();
}

inline OpCost PoolNdCost(const CostContext& c) {
  double window = 1;
  for (const std::int64_t k : c.attrs.IntList("kernel_shape")) window *= static_cast<double>(k);
  if (c.attrs.Find("kernel_shape") == nullptr && CountOf(c.outputs[0]) > 0)
    window = CountOf(c.inputs[0]) / CountOf(c.outputs[0]);
  return {.vector_ops = CountOf(c.outputs[0]) * window, .bytes = AllBytes(c)};
}

}  // namespace npukit::ops
