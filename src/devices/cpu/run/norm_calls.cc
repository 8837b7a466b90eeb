// instance_normalization, group_normalization and rms_normalization in fp32.
#include <algorithm>
#include <cmath>

#include "devices/cpu/run/calls.h"
#include "devices/cpu/run/kernels/kernels.h"
#include "ops/rules.h"

namespace npukit::devices::cpu {
namespace {

constexpr std::int64_t kGrain = 8192;  // floats read that are worth a thread

std::size_t GrainOf(std::int64_t floats_each) {
  return static_cast<std::size_t>(
      std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(floats_each, 1)));
}

bool ArePlainF32(const StepView& step, std::size_t inputs) {
  for (std::size_t i = 0; i < inputs; ++i) {
    const Operand* o = step.Input(i);
    if (o == nullptr || !o->is_f32() || !o->is_raw()) return false;
  }
  return step.outputs[0].is_f32() && step.epilogue.empty() && step.outputs[0].count() > 0;
}

// Groups of channels, each channel `plane` floats side by side.
class GroupNormCall final : public Call {
 public:
  GroupNormCall(const Kernels& kernels, const StepView& step, std::int64_t groups)
      : kernels_(kernels),
        x_(step.inputs[0].slot),
        scale_(step.inputs[1].slot),
        bias_(step.inputs[2].slot),
        y_(step.outputs[0].slot),
        epsilon_(step.attrs->Float("epsilon", 1e-5f)) {
    const tensor::Dims& x = step.inputs[0].dims;
    channels_ = x[1];
    plane_ = tensor::DenseStrides(x)[1];
    per_group_ = channels_ / groups;
    rows_ = x[0] * groups;
    scale_by_group_ = step.inputs[1].count() != channels_;
    bias_by_group_ = step.inputs[2].count() != channels_;
  }

  Status Run(const Frame& frame) const override {
    const auto* x = frame.At<const float>(x_);
    const auto* scale = frame.At<const float>(scale_);
    const auto* bias = frame.At<const float>(bias_);
    auto* y = frame.At<float>(y_);
    const std::int64_t n = per_group_ * plane_;
    frame.pool->ParallelFor(
        static_cast<std::size_t>(rows_), GrainOf(3 * n), [&](std::size_t begin, std::size_t end) {
          for (auto row = static_cast<std::int64_t>(begin); row < static_cast<std::int64_t>(end);
               ++row) {
            float mean = 0, variance = 0;
            kernels_.moments(x + row * n, n, &mean, &variance);
            const float factor = 1.0f / std::sqrt(variance + epsilon_);
            for (std::int64_t k = 0; k < per_group_; ++k) {
              const std::int64_t channel = (row * per_group_ + k) % channels_;
              const float by = factor * scale[scale_by_group_ ? channel / per_group_ : channel];
              const float* add = bias + (bias_by_group_ ? channel / per_group_ : channel);
              const EwStep steps[] = {
                  {.op = EwOp::kSub, .kind = EwOperand::kScalar, .operand = &mean},
                  {.op = EwOp::kMul, .kind = EwOperand::kScalar, .operand = &by},
                  {.op = EwOp::kAdd, .kind = EwOperand::kScalar, .operand = add}};
              EwBlock b;
              b.steps = steps;
              b.step_count = 3;
              b.in = x + row * n + k * plane_;
              b.out = y + row * n + k * plane_;
              b.rows = 1;
              b.cols = b.stride = plane_;
              kernels_.elementwise(b);
            }
          }
        });
    return OkStatus();
  }
  const char* kernel() const override { return "group_norm_f32"; }

 private:
  const Kernels& kernels_;
  Slot x_, scale_, bias_, y_;
  float epsilon_;
  std::int64_t channels_ = 0, plane_ = 0, per_group_ = 0, rows_ = 0;
  bool scale_by_group_ = false, bias_by_group_ = false;
};

class RmsNormCall final : public Call {
 public:
  RmsNormCall(const Kernels& kernels, const StepView& step)
      : kernels_(kernels),
        x_(step.inputs[0].slot),
        scale_(step.inputs[1].slot),
        y_(step.outputs[0].slot),
        epsilon_(step.attrs->Float("epsilon", 1e-5f)),
        n_(step.inputs[1].count()),
        rows_(step.inputs[0].count() / n_) {}
  Status Run(const Frame& frame) const override {
    const auto* x = frame.At<const float>(x_);
    const auto* scale = frame.At<const float>(scale_);
    auto* y = frame.At<float>(y_);
    frame.pool->ParallelFor(
        static_cast<std::size_t>(rows_), GrainOf(2 * n_), [&](std::size_t begin, std::size_t end) {
          for (auto i = static_cast<std::int64_t>(begin); i < static_cast<std::int64_t>(end); ++i)
            kernels_.rms_norm(x + i * n_, scale, epsilon_, y + i * n_, n_);
        });
    return OkStatus();
  }
  const char* kernel() const override { return "rms_norm_f32"; }

 private:
  const Kernels& kernels_;
  Slot x_, scale_, y_;
  float epsilon_;
  std::int64_t n_, rows_;
};

}  // namespace

std::unique_ptr<Call> Prepare_group_norm_f32(const StepView& step, Preparation& prep) {
  const bool instance = step.def == &op::instance_normalization;
  if ((!instance && step.def != &op::group_normalization) || !ArePlainF32(step, 3)) return nullptr;
  const std::int64_t groups = instance ? step.inputs[0].dims[1] : step.attrs->Int("num_groups", 1);
  for (std::size_t i = 1; i < 3; ++i) {  // one number for all is the reference's
    if (step.inputs[i].count() != groups && step.inputs[i].count() != step.inputs[0].dims[1])
      return nullptr;
  }
  return std::make_unique<GroupNormCall>(prep.kernels(), step, groups);
}

std::unique_ptr<Call> Prepare_rms_norm_f32(const StepView& step, Preparation& prep) {
  if (step.def != &op::rms_normalization || !ArePlainF32(step, 2)) return nullptr;
  const tensor::Dims& x = step.inputs[0].dims;
  const auto axis = ops::NormalAxis(step.attrs->Int("axis", -1), x.size());
  if (!axis.ok()) return nullptr;
  // A scale that broadcasts is the reference's.
  if (step.inputs[1].dims != tensor::Dims(x.begin() + static_cast<std::ptrdiff_t>(*axis), x.end()))
    return nullptr;
  return std::make_unique<RmsNormCall>(prep.kernels(), step);
}

}  // namespace npukit::devices::cpu
