// Depthwise convolution: rows of pixels whose columns all lie in the image go to the kernel
// together, the few at the border one at a time with the taps they have.
#include <algorithm>
#include <vector>

#include "devices/cpu/run/calls.h"
#include "devices/cpu/run/elementwise_program.h"
#include "ops/window.h"

namespace npukit::devices::cpu {
namespace {

class DepthwiseCall final : public Call {
 public:
  static constexpr std::int64_t kMaxKernelRows = 32;

  DepthwiseCall(const Kernels& kernels, ElementwiseProgram program)
      : kernels_(kernels), program_(std::move(program)) {}

  bool Prepare(const StepView& step, const ops::Window& w, const Preparation& prep) {
    const tensor::Dims& x = step.inputs[0].dims;
    const tensor::Dims& y = step.outputs[0].dims;
    const auto rows = ops::SlideOver(w, 0, x[1]);
    const auto cols = ops::SlideOver(w, 1, x[2]);
    if (!rows.ok() || !cols.ok() || w.kernel[0] > kMaxKernelRows || step.outputs[0].count() == 0)
      return false;
    w_ = w;
    pad_top_ = rows->pad_begin;
    pad_left_ = cols->pad_begin;
    batch_ = x[0], in_h_ = x[1], in_w_ = x[2], channels_ = x[3], out_h_ = y[1], out_w_ = y[2];
    weights_ = static_cast<const float*>(step.inputs[1].constant);
    if (const Operand* bias = step.Input(2)) bias_ = static_cast<const float*>(bias->constant);
    program_.TakeClamp(&lo_, &hi_);
    x_ = step.inputs[0].slot;
    y_ = step.outputs[0].slot;
    const std::int64_t reach = (w.kernel[1] - 1) * w.dilation[1];
    inside_begin_ = std::min((pad_left_ + w.stride[1] - 1) / w.stride[1], out_w_);
    const std::int64_t room =
        in_w_ - 1 - reach + pad_left_;  // the last pixel's last tap is the last column
    inside_end_ = room < 0 ? 0 : std::min(room / w.stride[1] + 1, out_w_);
    if (inside_end_ <= inside_begin_) inside_begin_ = inside_end_ = 0;
    // Rows of the image a thread should take at least, by their multiply-adds.
    const double row_macs =
        static_cast<double>(out_w_ * channels_) * static_cast<double>(w.kernel[0] * w.kernel[1]);
    grain_ = prep.threads() == 1 ? SIZE_MAX
                                 : static_cast<std::size_t>(std::max(1.0, 200'000 / row_macs));
    return true;
  }

  Status Run(const Frame& frame) const override {
    ElementwiseProgram::Steps steps;
    program_.Resolve(frame, &steps);
    const auto* x = frame.At<const float>(x_);
    auto* y = frame.At<float>(y_);
    frame.pool->ParallelFor(
        static_cast<std::size_t>(batch_ * out_h_), grain_, [&](std::size_t begin, std::size_t end) {
          for (auto row = static_cast<std::int64_t>(begin); row < static_cast<std::int64_t>(end);
               ++row) {
            RunRow(x + row / out_h_ * in_h_ * in_w_ * channels_, y + row * out_w_ * channels_,
                   row % out_h_);
            program_.RunInPlace(kernels_, steps, {y, row * out_w_, out_w_, 0, channels_});
          }
        });
    return OkStatus();
  }
  const char* kernel() const override { return "depthwise_f32"; }

 private:
  void RunRow(const float* image, float* out, std::int64_t oy) const {
    // Kernel rows inside the image follow each other: iy grows with ky.
    const std::int64_t top = oy * w_.stride[0] - pad_top_;
    std::int64_t ky0 = 0;
    while (ky0 < w_.kernel[0] && top + ky0 * w_.dilation[0] < 0) ++ky0;
    std::int64_t ky1 = w_.kernel[0];
    while (ky1 > ky0 && top + (ky1 - 1) * w_.dilation[0] >= in_h_) --ky1;
    DepthwiseTile t;
    t.w_panel_stride = w_.kernel[0] * w_.kernel[1] * kPanel;
    t.row_count = ky1 - ky0;
    t.w_row_stride = w_.kernel[1] * kPanel;
    t.tap_stride = w_.dilation[1] * channels_;
    t.pixel_stride = w_.stride[1] * channels_;
    t.channels = channels_;
    t.bias = bias_;
    t.lo = lo_;
    t.hi = hi_;
    const float* rows[kMaxKernelRows];
    t.rows = rows;
    const auto run = [&](std::int64_t ox, std::int64_t pixels, std::int64_t kx0, std::int64_t kx1) {
      const std::int64_t ix = ox * w_.stride[1] - pad_left_ + kx0 * w_.dilation[1];
      for (std::int64_t r = 0; r < t.row_count; ++r) {
        rows[r] = image + ((top + (ky0 + r) * w_.dilation[0]) * in_w_ + ix) * channels_;
      }
      t.w = weights_ + (ky0 * w_.kernel[1] + kx0) * kPanel;
      t.row_taps = kx1 - kx0;
      t.pixels = pixels;
      t.out = out + ox * channels_;
      kernels_.depthwise(t);
    };
    const auto border = [&](std::int64_t ox) {
      const std::int64_t left = ox * w_.stride[1] - pad_left_;
      std::int64_t kx0 = 0;
      while (kx0 < w_.kernel[1] && left + kx0 * w_.dilation[1] < 0) ++kx0;
      std::int64_t kx1 = w_.kernel[1];
      while (kx1 > kx0 && left + (kx1 - 1) * w_.dilation[1] >= in_w_) --kx1;
      run(ox, 1, kx0, kx1);
    };
    for (std::int64_t ox = 0; ox < inside_begin_; ++ox) border(ox);
    if (inside_end_ > inside_begin_)
      run(inside_begin_, inside_end_ - inside_begin_, 0, w_.kernel[1]);
    for (std::int64_t ox = inside_end_; ox < out_w_; ++ox) border(ox);
  }

  const Kernels& kernels_;
  ElementwiseProgram program_;
  ops::Window w_;
  std::int64_t pad_top_ = 0, pad_left_ = 0;
  std::int64_t batch_ = 0, in_h_ = 0, in_w_ = 0, channels_ = 0, out_h_ = 0, out_w_ = 0;
  std::int64_t inside_begin_ = 0, inside_end_ = 0;
  const float* weights_ = nullptr;
  const float* bias_ = nullptr;
  float lo_ = 0, hi_ = 0;
  Slot x_, y_;
  std::size_t grain_ = 1;
};

}  // namespace

std::unique_ptr<Call> Prepare_depthwise_f32(const StepView& step, Preparation& prep) {
  if (step.def != &op::conv2d) return nullptr;
  const Operand* x = step.Input(0);
  const Operand* w = step.Input(1);
  const Operand* bias = step.Input(2);
  if (x == nullptr || !x->is_f32() || !x->is_raw() || !step.outputs[0].is_f32()) return nullptr;
  if (w == nullptr || w->layout != Layout::kDepthwise) return nullptr;
  if (bias != nullptr && bias->layout != Layout::kPad16) return nullptr;
  const auto window = ops::ReadWindow(*step.attrs, {w->dims[2], w->dims[3]});
  if (!window.ok() || !window->nhwc || step.attrs->Int("group", 1) != w->dims[0] ||
      x->dims[3] != w->dims[0])
    return nullptr;
  ElementwiseProgram program(step.outputs[0].dims);
  if (!program.AddEpilogue(step)) return nullptr;
  auto call = std::make_unique<DepthwiseCall>(prep.kernels(), std::move(program));
  if (!call->Prepare(step, *window, prep)) return nullptr;
  return call;
}

}  // namespace npukit::devices::cpu
