// resize of NHWC images, nearest and linear: whole pixels are copied or mixed, rows first, then
// columns.
#include <algorithm>
#include <cstring>
#include <vector>

#include "devices/cpu/run/calls.h"
#include "devices/cpu/run/kernels/kernels.h"
#include "ops/resize.h"

namespace npukit::devices::cpu {
namespace {

class ResizeCall final : public Call {
 public:
  ResizeCall(const Kernels& kernels, const StepView& step, std::vector<ops::ResizeAxis> axes,
             bool linear)
      : kernels_(kernels), linear_(linear), x_(step.inputs[0].slot), y_(step.outputs[0].slot) {
    const tensor::Dims& x = step.inputs[0].dims;
    const tensor::Dims& y = step.outputs[0].dims;
    batch_ = x[0], in_h_ = x[1], in_w_ = x[2], channels_ = x[3], out_h_ = y[1], out_w_ = y[2];
    rows_ = Whole(std::move(axes[1]), out_h_);
    cols_ = Whole(std::move(axes[2]), out_w_);
  }

  bool Prepare(Preparation& prep) {
    if (!linear_) return true;
    // One mixed row a task.
    tasks_ = std::min<std::int64_t>(batch_ * out_h_, prep.threads() == 1 ? 1 : 4 * prep.threads());
    row_floats_ = (in_w_ * channels_ + 15) / 16 * 16;
    row_ = prep.Workspace(static_cast<std::uint64_t>(tasks_ * row_floats_) * sizeof(float));
    return true;
  }

  Status Run(const Frame& frame) const override {
    const auto* x = frame.At<const float>(x_);
    auto* y = frame.At<float>(y_);
    const std::int64_t rows = batch_ * out_h_;
    if (!linear_) {
      const auto grain =
          static_cast<std::size_t>(std::max<std::int64_t>(1, 16384 / (out_w_ * channels_)));
      frame.pool->ParallelFor(
          static_cast<std::size_t>(rows), grain, [&](std::size_t begin, std::size_t end) {
            for (auto r = static_cast<std::int64_t>(begin); r < static_cast<std::int64_t>(end); ++r)
              Nearest(x, y, r, begin);
          });
      return OkStatus();
    }
    auto* mixed = frame.At<float>(row_);
    frame.pool->ParallelFor(
        static_cast<std::size_t>(tasks_), 1, [&](std::size_t begin, std::size_t end) {
          for (auto t = static_cast<std::int64_t>(begin); t < static_cast<std::int64_t>(end); ++t) {
            for (std::int64_t r = t * rows / tasks_; r < (t + 1) * rows / tasks_; ++r)
              Linear(x, y, r, mixed + t * row_floats_);
          }
        });
    return OkStatus();
  }
  const char* kernel() const override { return "resize_f32"; }
  std::uint64_t memory_bytes() const override {
    return static_cast<std::uint64_t>(out_h_ + out_w_) * 20;
  }

 private:
  // An identity axis, written out.
  static ops::ResizeAxis Whole(ops::ResizeAxis axis, std::int64_t n) {
    if (!axis.identity) return axis;
    for (std::int64_t i = 0; i < n; ++i) axis.lo.push_back(i);
    axis.hi = axis.lo;
    axis.weight.assign(static_cast<std::size_t>(n), 0.0f);
    return axis;
  }

  // `first`: the first row this thread writes; a row like the one before it, also this thread's, is
  // a copy.
  void Nearest(const float* x, float* y, std::int64_t r, std::size_t first) const {
    const auto oy = static_cast<std::size_t>(r % out_h_);
    float* out = y + r * out_w_ * channels_;
    if (oy > 0 && r > static_cast<std::int64_t>(first) && rows_.lo[oy] == rows_.lo[oy - 1]) {
      std::memcpy(out, out - out_w_ * channels_,
                  static_cast<std::size_t>(out_w_ * channels_) * sizeof(float));
      return;
    }
    const float* in = x + (r / out_h_ * in_h_ + rows_.lo[oy]) * in_w_ * channels_;
    const std::size_t bytes = static_cast<std::size_t>(channels_) * sizeof(float);
    for (std::int64_t ox = 0; ox < out_w_; ++ox) {
      std::memcpy(out + ox * channels_, in + cols_.lo[static_cast<std::size_t>(ox)] * channels_,
                  bytes);
    }
  }

  void Linear(const float* x, float* y, std::int64_t r, float* mixed) const {
    const auto oy = static_cast<std::size_t>(r % out_h_);
    const float* image = x + r / out_h_ * in_h_ * in_w_ * channels_;
    const std::int64_t row = in_w_ * channels_;
    const float* in = image + rows_.lo[oy] * row;
    if (rows_.weight[oy] != 0) {
      kernels_.lerp(in, image + rows_.hi[oy] * row, rows_.weight[oy], mixed, row);
      in = mixed;
    }
    float* out = y + r * out_w_ * channels_;
    for (std::int64_t ox = 0; ox < out_w_; ++ox) {
      const auto i = static_cast<std::size_t>(ox);
      const float* a = in + cols_.lo[i] * channels_;
      if (cols_.weight[i] == 0) {
        std::memcpy(out + ox * channels_, a, static_cast<std::size_t>(channels_) * sizeof(float));
      } else {
        kernels_.lerp(a, in + cols_.hi[i] * channels_, cols_.weight[i], out + ox * channels_,
                      channels_);
      }
    }
  }

  const Kernels& kernels_;
  bool linear_;
  Slot x_, y_, row_;
  std::int64_t batch_ = 0, in_h_ = 0, in_w_ = 0, channels_ = 0, out_h_ = 0, out_w_ = 0;
  std::int64_t tasks_ = 1, row_floats_ = 0;
  ops::ResizeAxis rows_, cols_;
};

}  // namespace

std::unique_ptr<Call> Prepare_resize_f32(const StepView& step, Preparation& prep) {
  const Operand* x = step.Input(0);
  if (step.def != &op::resize || !step.epilogue.empty() || x == nullptr || !x->is_f32() ||
      !x->is_raw())
    return nullptr;
  if (step.attrs->String("layout", "NCHW") != "NHWC" || step.outputs[0].count() == 0)
    return nullptr;
  tensor::Value lists[2];
  for (std::size_t i = 1; i <= 2; ++i) {
    const Operand* in = step.Input(i);
    if (in == nullptr) continue;
    if (in->constant == nullptr || !in->is_raw()) return nullptr;
    lists[i - 1] = tensor::Value::Borrow(in->dtype, in->dims, in->constant);
  }
  tensor::Dims y;
  auto axes = ops::PlanResize(*step.attrs, x->dims, &lists[0], &lists[1], &y);
  if (!axes.ok() || y != step.outputs[0].dims || !(*axes)[0].identity || !(*axes)[3].identity)
    return nullptr;
  const bool linear = step.attrs->String("mode", "nearest") == "linear";
  auto call = std::make_unique<ResizeCall>(prep.kernels(), step, std::move(*axes), linear);
  if (!call->Prepare(prep)) return nullptr;
  return call;
}

}  // namespace npukit::devices::cpu
