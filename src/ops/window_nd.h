// Sliding windows over any number of spatial dimensions, one WindowAxis for each. window.h is the
// form for two, which devices use; the arithmetic of a dimension is said here, once.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "ops/window.h"

namespace npukit::ops {

struct WindowAxis {
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t pad_begin = 0;
  std::int64_t pad_end = 0;
  std::int64_t output_padding = 0;
  std::int64_t output_shape = -1;  // of a transposed convolution: the size asked for; -1: none
  AutoPad auto_pad = AutoPad::kNotSet;
  bool ceil_mode = false;
  std::int64_t extent() const { return (kernel - 1) * dilation + 1; }
};

// "height", "width" of two; "spatial dimension 0" and so on otherwise.
std::string WindowAxisName(std::size_t axis, std::size_t count);

// Reads strides, pads, dilations, output_padding, output_shape, auto_pad, ceil_mode: each list must
// have one number (pads: two) for each size of the kernel.
Result<std::vector<WindowAxis>> ReadWindowAxes(const Attrs& attrs, const Ints& kernel);
// The same for a pool: a window that lies in the padding alone has nothing to reduce.
Result<std::vector<WindowAxis>> ReadPoolAxes(const Attrs& attrs, const Ints& kernel);

// One dimension with its padding resolved; `name` is for messages.
Result<WindowSpan> SlideAxis(const WindowAxis& w, std::int64_t in, const std::string& name);
Result<WindowSpan> SpreadAxis(const WindowAxis& w, std::int64_t in, const std::string& name);
Result<tensor::Dim> SlideAxis(const WindowAxis& w, const tensor::Dim& in, const std::string& name);
Result<tensor::Dim> SpreadAxis(const WindowAxis& w, const tensor::Dim& in, const std::string& name);

// A window over the spatial dimensions of one channel: which of its positions meet the input.
class PlacedWindow {
 public:
  // `in`: the spatial dimensions of x, as many as axes.
  static Result<PlacedWindow> Slid(std::vector<WindowAxis> axes, tensor::Dims in);
  static Result<PlacedWindow> Spread(std::vector<WindowAxis> axes, tensor::Dims in);

  const tensor::Dims& out() const { return out_; }  // spatial dimensions of the result
  // Calls f(offset in the channel of x, offset in the kernel) for the positions inside the input,
  // for the result at `at`; the kernel's order. Takes time in the positions inside alone, however
  // large the window is.
  template <class F>
  void ForEach(const tensor::Dims& at, F f);
  // Positions of a slid window inside the padded input.
  double CountPadded(const tensor::Dims& at) const;

 private:
  PlacedWindow() = default;
  bool Enter(const tensor::Dims& at);  // false: no position is inside
  // Offset along one axis for kernel position k; -1: between two inputs (spread only).
  std::int64_t Place(std::size_t axis, std::int64_t k) const {
    const std::int64_t p =
        spread_ ? start_[axis] - k * axes_[axis].dilation : start_[axis] + k * axes_[axis].dilation;
    if (!spread_) return p;
    return p % axes_[axis].stride == 0 ? p / axes_[axis].stride : -1;
  }

  bool spread_ = false;
  std::vector<WindowAxis> axes_;
  std::vector<WindowSpan> spans_;
  tensor::Dims in_, in_strides_, kernel_strides_, out_;
  tensor::Dims start_, first_, last_, k_;
};

template <class F>
void PlacedWindow::ForEach(const tensor::Dims& at, F f) {
  if (!Enter(at)) return;
  const std::size_t n = axes_.size();
  k_ = first_;
  for (;;) {
    std::int64_t x = 0, w = 0;
    bool meets = true;
    for (std::size_t a = 0; a < n && meets; ++a) {
      const std::int64_t p = Place(a, k_[a]);
      meets = p >= 0;
      x += p * in_strides_[a];
      w += k_[a] * kernel_strides_[a];
    }
    if (meets) f(x, w);
    std::size_t a = n;
    for (;; --a) {
      if (a == 0) return;
      if (++k_[a - 1] < last_[a - 1]) break;
      k_[a - 1] = first_[a - 1];
    }
  }
}

// Counts `at` up in row-major order; false after the last.
inline bool NextIndex(const tensor::Dims& dims, tensor::Dims& at) {
  for (std::size_t d = dims.size(); d-- > 0;) {
    if (++at[d] < dims[d]) return true;
    at[d] = 0;
  }
  return false;
}

}  // namespace npukit::ops
