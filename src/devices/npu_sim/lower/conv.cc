#include "devices/npu_sim/lower/conv.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "base/text.h"
#include "ops/window.h"
#include "tensor/half.h"

namespace npukit::devices::npu_sim {
Status AddCubeWeights(
    Context& c, ConvProblem& p,
    const std::function<float(std::int64_t, std::int64_t, std::int64_t, std::int64_t)>& element) {
  const ConvGeometry& g = p.geometry;
  const std::int64_t inner = g.channels * g.taps();
  std::vector<std::byte> bytes(
      static_cast<std::size_t>(g.k1() * g.out_blocks() * npu::kFractalBytes));
  std::vector<std::byte> scales(static_cast<std::size_t>(g.out_blocks() * kLanes * 4));
  std::vector<float> row(static_cast<std::size_t>(inner));
  p.scales.assign(static_cast<std::size_t>(g.out_blocks() * kLanes), 1.0f);
  for (std::int64_t o = 0; o < g.out_channels; ++o) {
    float largest = 0;
    for (std::int64_t i = 0; i < g.channels; ++i) {
      for (std::int64_t tap = 0; tap < g.taps(); ++tap) {
        const float v = element(o, i, tap / g.kernel_w, tap % g.kernel_w);
        row[static_cast<std::size_t>(i * g.taps() + tap)] = v;
        if (std::isfinite(v)) largest = std::max(largest, std::fabs(v));
      }
    }
    int exponent = 0;
    if (largest > 0) std::frexp(largest, &exponent);
    // Powers of two scale exactly as long as they are finite themselves; frexp gives [0.5, 1).
    exponent = std::clamp(exponent + 1, -100, 100);
    const float scale = std::ldexp(1.0f, exponent), inverse = std::ldexp(1.0f, -exponent);
    std::memcpy(scales.data() + o * 4, &scale, 4);
    p.scales[static_cast<std::size_t>(o)] = scale;
    for (std::int64_t i = 0; i < g.channels; ++i) {
      for (std::int64_t tap = 0; tap < g.taps(); ++tap) {
        const std::uint16_t h =
            tensor::FloatToHalf(row[static_cast<std::size_t>(i * g.taps() + tap)] * inverse);
        const std::int64_t k1 = i / kLanes * g.taps() + tap;
        const std::int64_t at = (k1 * g.out_blocks() + o / kLanes) * npu::kFractalBytes +
                                (o % kLanes) * npu::kBlockBytes + (i % kLanes) * 2;
        std::memcpy(bytes.data() + at, &h, 2);
      }
    }
  }
  NPUKIT_ASSIGN_OR_RETURN(p.weight, c.AddWeight("f16_fractal_z", std::move(bytes)));
  NPUKIT_ASSIGN_OR_RETURN(p.scale, c.AddWeight("f32_channels", std::move(scales)));
  return OkStatus();
}

std::int64_t CubeBiasBytes(const Config& config, const ConvGeometry& g) {
  const std::int64_t bytes = g.out_blocks() * kLanes * 4;
  return config.accumulator_bits == 32 && bytes <= config.buffers.l1_bytes / 16 ? bytes : 0;
}

Status AddBiasAndRelu(Context& c, ConvProblem& p, const tensor::Value* bias) {
  const ConvGeometry& g = p.geometry;
  if (bias != nullptr && CubeBiasBytes(c.config, g) > 0) {
    // In the units of the accumulators; scales are powers of two, so nothing is lost.
    std::vector<float> scaled;
    for (std::int64_t i = 0; i < g.out_channels; ++i) {
      scaled.push_back(static_cast<float>(tensor::ElementAsDouble(*bias, i) /
                                          p.scales[static_cast<std::size_t>(i)]));
    }
    const tensor::Value v =
        tensor::Value::FromVector(tensor::DType::kF32, {g.out_channels}, scaled);
    NPUKIT_ASSIGN_OR_RETURN(p.cube_bias, BiasWeight(c, &v, g.out_channels));
  } else {
    NPUKIT_ASSIGN_OR_RETURN(p.bias, BiasWeight(c, bias, g.out_channels));
  }
  std::vector<Step>& steps = p.steps.steps;
  if (p.bias < 0 && !steps.empty() && steps[0].op == &op::relu) {
    p.relu = true;
    steps.erase(steps.begin());
  }
  return OkStatus();
}

Result<std::int32_t> BiasWeight(Context& c, const tensor::Value* bias, std::int64_t channels) {
  if (bias == nullptr) return -1;
  std::vector<std::byte> bytes(static_cast<std::size_t>(RoundUp(channels, kLanes) * 4));
  for (std::int64_t i = 0; i < channels; ++i) {
    const float v = static_cast<float>(tensor::ElementAsDouble(*bias, i));
    std::memcpy(bytes.data() + i * 4, &v, 4);
  }
  return c.AddWeight("f32_channels", std::move(bytes));
}

Result<ConvGeometry> GeometryOf(const ir::Graph& graph, const ir::Node& n) {
  const bool pool = n.op->loop == ops::LoopShape::kPool;
  const tensor::Dims x = graph.value(n.inputs[0]).type.dims(),
                     y = graph.value(n.outputs[0]).type.dims();
  std::array<std::int64_t, 2> kernel{1, 1};
  if (!pool) {
    const tensor::Dims w = graph.value(n.inputs[1]).type.dims();
    kernel = {w[2], w[3]};
  }
  NPUKIT_ASSIGN_OR_RETURN(const ops::Window w,
                          pool ? ops::ReadPoolWindow(n.attrs) : ops::ReadWindow(n.attrs, kernel));
  ConvGeometry g;
  g.images = x[0];
  g.height = x[1];
  g.width = x[2];
  g.channels = x[3];
  g.out_height = y[1];
  g.out_width = y[2];
  g.out_channels = y[3];
  g.kernel_h = w.kernel[0];
  g.kernel_w = w.kernel[1];
  g.stride_h = w.stride[0];
  g.stride_w = w.stride[1];
  g.dilation_h = w.dilation[0];
  g.dilation_w = w.dilation[1];
  NPUKIT_ASSIGN_OR_RETURN(const ops::WindowSpan vertical, ops::SlideOver(w, 0, g.height));
  NPUKIT_ASSIGN_OR_RETURN(const ops::WindowSpan horizontal, ops::SlideOver(w, 1, g.width));
  g.pad_top = vertical.pad_begin;
  g.pad_left = horizontal.pad_begin;
  return g;
}

Status LowerConv(Context& c, const ir::Node& n) {
  ConvProblem p;
  p.name = n.name;
  NPUKIT_ASSIGN_OR_RETURN(p.geometry, GeometryOf(c.graph, n));
  const ConvGeometry& g = p.geometry;
  StepProblem problem;
  p.steps = PlanSteps(c.graph, n, &problem);
  Overflow overflow;
  const ConvTiling t = ChooseConvTiling(c.config, g, p.steps, &overflow);
  if (!problem.code.empty() || !overflow.fact.empty())
    return Internal(Cat("conv2d ", n.name, " was not asked about"));

  NPUKIT_RETURN_IF_ERROR(BindOperands(c, p.steps));
  NPUKIT_ASSIGN_OR_RETURN(p.src, c.AsBlocked(n.inputs[0]));
  const tensor::Value& w = *c.graph.constant(n.inputs[1]);
  NPUKIT_RETURN_IF_ERROR(
      AddCubeWeights(c, p, [&](std::int64_t o, std::int64_t i, std::int64_t kh, std::int64_t kw) {
        return static_cast<float>(
            tensor::ElementAsDouble(w, ((o * g.channels + i) * g.kernel_h + kh) * g.kernel_w + kw));
      }));
  NPUKIT_RETURN_IF_ERROR(AddBiasAndRelu(c, p, ConstantBias(c.graph, n)));
  NPUKIT_ASSIGN_OR_RETURN(p.dst, c.NewBlocked(n.outputs[0]));
  p.dst_image = g.out_height * g.out_width;
  p.dst_row = g.out_width;
  const ConvTiling best = SearchConvTiling(c, p, t);
  c.BeginTask(n.name);
  EmitConv(c, p, best);
  c.EndTask(static_cast<std::uint64_t>(g.macs()));
  return OkStatus();
}

}  // namespace npukit::devices::npu_sim
