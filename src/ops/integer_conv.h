// Convolution of 8-bit integers less their zero points, over any number of spatial dimensions: what
// conv_integer and qlinear_conv share. Sums are int32 and wrap. Weights are [O, I/group,
// kernel...].
#pragma once

#include <cstdint>
#include <vector>

#include "ops/quant.h"
#include "ops/window.h"

namespace npukit::ops {

// One spatial dimension. Only index 0 of the window is used.
struct ConvAxis {
  Window window;
  WindowSpan span;       // when the input's size is known
  std::int64_t in = 0;   // sizes of x and y
  std::int64_t out = 0;  // along it
};

// Reads strides, pads, dilations, auto_pad for each spatial dimension of w.
Result<std::vector<ConvAxis>> ReadConvAxes(const Attrs& attrs,
                                           std::span<const std::int64_t> kernel);

// Types and shapes of x and w (inputs `x` and `w`), group and kernel_shape; result 0 gets the shape
// and the given type.
Status InferIntegerConv(InferContext& c, std::size_t x, std::size_t w, tensor::DType out);
// An optional parameter of w: one number, or one for each output channel.
Status CheckPerChannel(const InferContext& c, std::size_t input, std::size_t w);

OpCost IntegerConvCost(const CostContext& c, std::size_t w);

// Calls done(element of y, output channel, sum) for every element of y.
class IntegerConv {
 public:
  static Result<IntegerConv> Make(const Attrs& attrs, const tensor::Value& x,
                                  const tensor::Value& w, const tensor::Dims& y);
  // Zero points: absent, one, or (of w) one for each output channel.
  template <class Done>
  void Run(const tensor::Value& x_zero, const tensor::Value& w_zero, Done done) {
    if (empty_) return;  // however many images it claims
    const std::int32_t zx = x_zero.present() ? Int(x_zero, 0) : 0;
    for (std::int64_t n = 0; n < batch_; ++n) {
      for (std::int64_t o = 0; o < channels_; ++o) {
        const std::int32_t zw = w_zero.present() ? Int(w_zero, w_zero.count() == 1 ? 0 : o) : 0;
        for (std::int64_t at = 0; at < places_; ++at)
          done((n * channels_ + o) * places_ + at, o, Sum(n, o, at, zx, zw));
      }
    }
  }

 private:
  static std::int32_t Int(const tensor::Value& v, std::int64_t i) {
    std::int32_t x = 0;
    Widen(v, i, 1, &x);
    return x;
  }
  std::int32_t Sum(std::int64_t n, std::int64_t o, std::int64_t place, std::int32_t zx,
                   std::int32_t zw);

  std::vector<ConvAxis> axes_;
  bool empty_ = false;
  std::vector<std::int32_t> x_, w_;
  std::vector<std::int64_t> start_, tap_;      // scratch: one number for each spatial dimension
  std::int64_t batch_ = 0, in_channels_ = 0;   // of x
  std::int64_t channels_ = 0, per_group_ = 0;  // of y; of w
  std::int64_t out_per_group_ = 1, area_ = 1, places_ = 1, taps_ = 1;
};

}  // namespace npukit::ops
