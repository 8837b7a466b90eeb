// reduce_mean, reduce_sum, softmax, layer_normalization and pooling.
#include <algorithm>
#include <vector>

#include "devices/cpu/run/calls.h"
#include "devices/cpu/run/kernels/kernels.h"
#include "ops/rules.h"
#include "ops/window.h"

namespace npukit::devices::cpu {
namespace {

constexpr std::int64_t kGrain = 8192;  // floats read that are worth a thread

bool IsPlainF32(const StepView& step) {
  const Operand* x = step.Input(0);
  return x != nullptr && x->is_f32() && x->is_raw() && step.outputs[0].is_f32() &&
         step.epilogue.empty() && step.outputs[0].count() > 0 && x->count() > 0;
}

std::size_t GrainOf(std::int64_t floats_each) {
  return static_cast<std::size_t>(
      std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(floats_each, 1)));
}

// Sum or mean over dimensions that follow each other: outer x reduced x inner.
class MeanCall final : public Call {
 public:
  MeanCall(const Kernels& kernels, Slot x, Slot y, std::int64_t outer, std::int64_t n,
           std::int64_t inner, bool mean)
      : kernels_(kernels), x_(x), y_(y), outer_(outer), n_(n), inner_(inner), mean_(mean) {
    // Sums of sums: a long chain of additions of floats would lose digits.
    while (n_ % (2 * split_) == 0 && split_ * split_ < n_) split_ *= 2;
  }

  Status Run(const Frame& frame) const override {
    const auto* x = frame.At<const float>(x_);
    auto* y = frame.At<float>(y_);
    const float scale = mean_ ? 1.0f / static_cast<float>(n_) : 1.0f;
    if (inner_ == 1) {
      frame.pool->ParallelFor(
          static_cast<std::size_t>(outer_), GrainOf(n_), [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i)
              y[i] = kernels_.sum(x + static_cast<std::int64_t>(i) * n_, n_) * scale;
          });
      return OkStatus();
    }
    // Stripes of channels, so that one image too is work for several threads.
    const std::int64_t stripe = std::min<std::int64_t>(inner_, 64);
    const std::int64_t stripes = (inner_ + stripe - 1) / stripe;
    frame.pool->ParallelFor(static_cast<std::size_t>(outer_ * stripes), GrainOf(n_ * stripe),
                            [&](std::size_t begin, std::size_t end) {
                              for (auto i = static_cast<std::int64_t>(begin);
                                   i < static_cast<std::int64_t>(end); ++i) {
                                const std::int64_t c = i % stripes * stripe;
                                PoolPixel p;
                                p.in = x + i / stripes * n_ * inner_ + c;
                                p.rows = split_;
                                p.cols = n_ / split_;
                                p.col_stride = inner_;
                                p.row_stride = p.cols * inner_;
                                p.channels = std::min(stripe, inner_ - c);
                                p.scale = scale;
                                p.out = y + i / stripes * inner_ + c;
                                kernels_.sum_pool(p);
                              }
                            });
    return OkStatus();
  }
  const char* kernel() const override { return mean_ ? "mean_f32" : "sum_f32"; }

 private:
  const Kernels& kernels_;
  Slot x_, y_;
  std::int64_t outer_, n_, inner_;
  bool mean_;
  std::int64_t split_ = 1;
};

class LayerNormCall final : public Call {
 public:
  LayerNormCall(const Kernels& kernels, const StepView& step, std::int64_t rows, std::int64_t n)
      : kernels_(kernels),
        x_(step.inputs[0].slot),
        scale_(step.inputs[1].slot),
        y_(step.outputs[0].slot),
        epsilon_(step.attrs->Float("epsilon", 1e-5f)),
        rows_(rows),
        n_(n) {
    if (const Operand* bias = step.Input(2)) bias_ = bias->slot, has_bias_ = true;
  }
  Status Run(const Frame& frame) const override {
    const auto* x = frame.At<const float>(x_);
    const auto* scale = frame.At<const float>(scale_);
    const auto* bias = has_bias_ ? frame.At<const float>(bias_) : nullptr;
    auto* y = frame.At<float>(y_);
    frame.pool->ParallelFor(
        static_cast<std::size_t>(rows_), GrainOf(2 * n_), [&](std::size_t begin, std::size_t end) {
          for (auto i = static_cast<std::int64_t>(begin); i < static_cast<std::int64_t>(end); ++i)
            kernels_.layer_norm(x + i * n_, scale, bias, epsilon_, y + i * n_, n_);
        });
    return OkStatus();
  }
  const char* kernel() const override { return "layer_norm_f32"; }

 private:
  const Kernels& kernels_;
  Slot x_, scale_, bias_, y_;
  bool has_bias_ = false;
  float epsilon_;
  std::int64_t rows_, n_;
};

class SoftmaxCall final : public Call {
 public:
  SoftmaxCall(const Kernels& kernels, Slot x, Slot y, std::int64_t rows, std::int64_t n)
      : kernels_(kernels), x_(x), y_(y), rows_(rows), n_(n) {}
  Status Run(const Frame& frame) const override {
    const auto* x = frame.At<const float>(x_);
    auto* y = frame.At<float>(y_);
    frame.pool->ParallelFor(
        static_cast<std::size_t>(rows_), GrainOf(4 * n_), [&](std::size_t begin, std::size_t end) {
          for (auto i = static_cast<std::int64_t>(begin); i < static_cast<std::int64_t>(end); ++i) {
            kernels_.softmax(x + i * n_, y + i * n_, n_);
          }
        });
    return OkStatus();
  }
  const char* kernel() const override { return "softmax_f32"; }

 private:
  const Kernels& kernels_;
  Slot x_, y_;
  std::int64_t rows_, n_;
};

// NHWC. Only taps inside the image are visited.
class PoolCall final : public Call {
 public:
  PoolCall(const Kernels& kernels, const StepView& step, const ops::Window& w, ops::WindowSpan rows,
           ops::WindowSpan cols)
      : kernels_(kernels),
        w_(w),
        rows_(rows),
        cols_(cols),
        x_(step.inputs[0].slot),
        y_(step.outputs[0].slot) {
    const tensor::Dims& x = step.inputs[0].dims;
    batch_ = x[0], in_h_ = x[1], in_w_ = x[2], channels_ = x[3];
    average_ = step.def == &op::avg_pool2d;
    count_pad_ = step.attrs->Int("count_include_pad", 0) != 0;
  }

  Status Run(const Frame& frame) const override {
    const auto* x = frame.At<const float>(x_);
    auto* y = frame.At<float>(y_);
    const std::int64_t row_floats = cols_.out * channels_;
    const std::size_t grain =
        GrainOf(row_floats * std::min<std::int64_t>(w_.kernel[0] * w_.kernel[1], 64));
    frame.pool->ParallelFor(
        static_cast<std::size_t>(batch_ * rows_.out), grain,
        [&](std::size_t begin, std::size_t end) {
          for (auto i = static_cast<std::int64_t>(begin); i < static_cast<std::int64_t>(end); ++i) {
            const Taps v = TapsOf(0, rows_, i % rows_.out, in_h_);
            const float* image = x + i / rows_.out * in_h_ * in_w_ * channels_;
            for (std::int64_t ox = 0; ox < cols_.out; ++ox) {
              const Taps h = TapsOf(1, cols_, ox, in_w_);
              PoolPixel p;
              p.rows = v.count;
              p.cols = h.count;
              p.in = image + (v.first * in_w_ + h.first) * channels_;
              p.row_stride = w_.dilation[0] * in_w_ * channels_;
              p.col_stride = w_.dilation[1] * channels_;
              p.channels = channels_;
              p.out = y + i * row_floats + ox * channels_;
              if (average_) {
                const std::int64_t n = count_pad_ ? v.padded * h.padded : v.count * h.count;
                p.scale = n == 0 ? 0.0f : 1.0f / static_cast<float>(n);
                kernels_.sum_pool(p);
              } else {
                kernels_.max_pool(p);
              }
            }
          }
        });
    return OkStatus();
  }
  const char* kernel() const override { return "pool_f32"; }

 private:
  struct Taps {
    std::int64_t first = 0;   // input index of the first tap inside
    std::int64_t count = 0;   // taps inside the image
    std::int64_t padded = 0;  // taps inside the padded image
  };
  // Closed form, since a window may be larger than anything that fits inside it.
  Taps TapsOf(std::size_t axis, const ops::WindowSpan& span, std::int64_t o,
              std::int64_t in) const {
    const std::int64_t d = w_.dilation[axis];
    const std::int64_t start = o * w_.stride[axis] - span.pad_begin;
    const auto below = [&](std::int64_t limit) {  // taps before position `limit`
      return limit <= start ? 0 : std::min(w_.kernel[axis], (limit - 1 - start) / d + 1);
    };
    Taps t;
    const std::int64_t skipped = below(0);
    t.count = std::max<std::int64_t>(0, below(in) - skipped);
    t.first = t.count == 0 ? 0 : start + skipped * d;
    t.padded = below(in + span.pad_end);
    return t;
  }

  const Kernels& kernels_;
  ops::Window w_;
  ops::WindowSpan rows_, cols_;
  Slot x_, y_;
  std::int64_t batch_ = 0, in_h_ = 0, in_w_ = 0, channels_ = 0;
  bool average_ = false, count_pad_ = false;
};

}  // namespace

std::unique_ptr<Call> Prepare_mean_f32(const StepView& step, Preparation& prep) {
  const bool mean = step.def == &op::reduce_mean;
  if ((!mean && step.def != &op::reduce_sum) || !IsPlainF32(step)) return nullptr;
  const tensor::Dims& x = step.inputs[0].dims;
  const ops::Ints axes = step.attrs->IntList("axes");
  std::vector<bool> reduced(x.size(), axes.empty());
  if (!axes.empty()) {
    auto mask = ops::AxisMask(axes, x.size());
    if (!mask.ok()) return nullptr;
    reduced = *mask;
  }
  std::int64_t outer = 1, n = 1, inner = 1;
  std::size_t i = 0;
  for (; i < x.size() && (!reduced[i] || x[i] == 1); ++i) outer *= x[i];
  for (; i < x.size() && (reduced[i] || x[i] == 1); ++i) n *= x[i];
  for (; i < x.size(); ++i) {
    if (reduced[i] && x[i] != 1) return nullptr;  // not one stretch
    inner *= x[i];
  }
  return std::make_unique<MeanCall>(prep.kernels(), step.inputs[0].slot, step.outputs[0].slot,
                                    outer, n, inner, mean);
}

std::unique_ptr<Call> Prepare_layer_norm_f32(const StepView& step, Preparation& prep) {
  if (step.def != &op::layer_normalization || !IsPlainF32(step)) return nullptr;
  const Operand* scale = step.Input(1);
  const Operand* bias = step.Input(2);
  if (scale == nullptr || !scale->is_f32() || !scale->is_raw() ||
      (bias != nullptr && (!bias->is_f32() || !bias->is_raw()))) {
    return nullptr;
  }
  const std::int64_t n = scale->count();
  return std::make_unique<LayerNormCall>(prep.kernels(), step, step.inputs[0].count() / n, n);
}

std::unique_ptr<Call> Prepare_softmax_f32(const StepView& step, Preparation& prep) {
  if (step.def != &op::softmax || !IsPlainF32(step)) return nullptr;
  const tensor::Dims& x = step.inputs[0].dims;
  const auto axis = ops::NormalAxis(step.attrs->Int("axis", -1), x.size());
  if (!axis.ok()) return nullptr;
  for (std::size_t i = *axis + 1; i < x.size(); ++i) {
    if (x[i] != 1) return nullptr;  // elements of a row must lie side by side
  }
  const std::int64_t n = x[*axis];
  return std::make_unique<SoftmaxCall>(prep.kernels(), step.inputs[0].slot, step.outputs[0].slot,
                                       step.inputs[0].count() / n, n);
}

std::unique_ptr<Call> Prepare_pool_f32(const StepView& step, Preparation& prep) {
  if ((step.def != &op::max_pool2d && step.def != &op::avg_pool2d) || !IsPlainF32(step))
    return nullptr;
  const auto w = ops::ReadPoolWindow(*step.attrs);
  if (!w.ok() || !w->nhwc) return nullptr;
  const auto rows = ops::SlideOver(*w, 0, step.inputs[0].dims[1]);
  const auto cols = ops::SlideOver(*w, 1, step.inputs[0].dims[2]);
  if (!rows.ok() || !cols.ok()) return nullptr;
  return std::make_unique<PoolCall>(prep.kernels(), step, *w, *rows, *cols);
}

}  // namespace npukit::devices::cpu
