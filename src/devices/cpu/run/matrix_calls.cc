// conv2d, conv_transpose2d and matmul: which steps the matrix kernels take.
#include <algorithm>

#include "devices/cpu/run/calls.h"
#include "devices/cpu/run/conv_call.h"

namespace npukit::devices::cpu {
namespace {

// Absent, or constant and packed.
bool BiasFits(const StepView& step) {
  const Operand* bias = step.Input(2);
  return bias == nullptr || (bias->constant != nullptr && bias->layout == Layout::kPad16);
}

bool IsF32Step(const StepView& step) {
  const Operand* x = step.Input(0);
  return x != nullptr && x->is_f32() && x->is_raw() && step.outputs[0].is_f32();
}

}  // namespace

std::unique_ptr<Call> Prepare_conv_f32(const StepView& step, Preparation& prep) {
  const Operand* w = step.Input(1);
  const bool transposed = step.def == &op::conv_transpose2d;
  if (!IsF32Step(step) || w == nullptr || w->constant == nullptr || !BiasFits(step)) return nullptr;
  const bool pixelwise = transposed && w->layout == Layout::kDeconvRow;
  if (!pixelwise && w->layout != (transposed ? Layout::kDeconv : Layout::kConv)) return nullptr;
  const std::int64_t groups = step.attrs->Int("group", 1);
  if (groups != w->groups || w->dims.size() != 4) return nullptr;
  const auto window = ops::ReadWindow(*step.attrs, {w->dims[2], w->dims[3]});
  if (!window.ok() || !window->nhwc) return nullptr;
  auto shape =
      pixelwise    ? ShapeOfPixelwiseDeconv(*window, step.inputs[0].dims, step.outputs[0].dims)
      : transposed ? ShapeOfDeconv(*window, step.inputs[0].dims, step.outputs[0].dims, groups)
                   : ShapeOfConv(*window, step.inputs[0].dims, step.outputs[0].dims, groups);
  if (!shape) return nullptr;
  return ConvCall::Make(step, std::move(*shape), static_cast<const float*>(w->constant),
                        step.Input(2), transposed ? "deconv_f32" : "conv_f32", prep);
}

// A matrix product by one constant matrix: every row of a is a pixel.
std::unique_ptr<Call> Prepare_matmul_f32(const StepView& step, Preparation& prep) {
  const Operand* b = step.Input(1);
  if (!IsF32Step(step) || b == nullptr || b->layout != Layout::kMatmul || !BiasFits(step))
    return nullptr;
  const tensor::Dims& a = step.inputs[0].dims;
  const auto spec = SpecFor(Layout::kMatmul, b->dims, 1);
  if (!spec || spec->groups != 1 || a.size() < 2) return nullptr;
  const std::int64_t rows = step.inputs[0].count() / std::max<std::int64_t>(spec->c, 1);
  if (rows == 0) return nullptr;
  return ConvCall::Make(step, ShapeOfMatmul(rows, spec->c, spec->n),
                        static_cast<const float*>(b->constant), step.Input(2), "matmul_f32", prep);
}

}  // namespace npukit::devices::cpu
