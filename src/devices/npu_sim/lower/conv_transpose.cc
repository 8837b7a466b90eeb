// Transposed convolution whose kernel equals its stride: every tap is a matrix product of its own,
// stored interleaved.
#include "devices/npu_sim/lower/conv_transpose.h"

#include "base/text.h"
#include "ops/window.h"

namespace npukit::devices::npu_sim {

Result<ConvGeometry> TapGeometry(const ir::Graph& graph, const ir::Node& n, std::string* problem) {
  const tensor::Dims x = graph.value(n.inputs[0]).type.dims(),
                     w = graph.value(n.inputs[1]).type.dims();
  NPUKIT_ASSIGN_OR_RETURN(const ops::Window window, ops::ReadWindow(n.attrs, {w[2], w[3]}));
  ConvGeometry g;
  g.images = x[0];
  g.height = g.out_height = x[1];
  g.width = g.out_width = x[2];
  g.channels = x[3];
  g.out_channels = w[1];
  for (int axis = 0; axis < 2; ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    NPUKIT_ASSIGN_OR_RETURN(const ops::WindowSpan span,
                            ops::SpreadFrom(window, axis, axis == 0 ? g.height : g.width));
    if (window.kernel[a] != window.stride[a] || window.dilation[a] != 1 || span.pad_begin != 0 ||
        span.out != (axis == 0 ? g.height : g.width) * window.kernel[a]) {
      *problem = Cat("kernel ", window.kernel[a], ", stride ", window.stride[a], ", padding ",
                     span.pad_begin);
    }
  }
  return g;
}

Status LowerConvTranspose(Context& c, const ir::Node& n) {
  ConvProblem p;
  p.name = n.name;
  std::string unsupported;
  NPUKIT_ASSIGN_OR_RETURN(p.geometry, TapGeometry(c.graph, n, &unsupported));
  const ConvGeometry& g = p.geometry;
  StepProblem problem;
  p.steps = PlanSteps(c.graph, n, &problem);
  Overflow overflow;
  ConvTiling t = ChooseConvTiling(c.config, g, p.steps, &overflow);
  if (!problem.code.empty() || !overflow.fact.empty() || !unsupported.empty()) {
    return Internal(Cat("conv_transpose2d ", n.name, " was not asked about"));
  }
  t.rows = 1;  // an output row of one tap has gaps: tiles are single rows
  NPUKIT_RETURN_IF_ERROR(BindOperands(c, p.steps));
  NPUKIT_ASSIGN_OR_RETURN(p.src, c.AsBlocked(n.inputs[0]));
  NPUKIT_ASSIGN_OR_RETURN(p.dst, c.NewBlocked(n.outputs[0]));
  const tensor::Value& w = *c.graph.constant(n.inputs[1]);  // [I, O, kh, kw]
  const std::int64_t kh = w.dims()[2], kw = w.dims()[3];
  const std::int64_t out_width = g.width * kw;
  p.dst_image = g.height * kh * out_width;
  p.dst_row = kh * out_width;
  p.dst_column = kw;
  const StepsPlan steps = p.steps;
  c.BeginTask(n.name);
  for (std::int64_t y = 0; y < kh; ++y) {
    for (std::int64_t x = 0; x < kw; ++x) {
      NPUKIT_RETURN_IF_ERROR(
          AddCubeWeights(c, p, [&](std::int64_t o, std::int64_t i, std::int64_t, std::int64_t) {
            return static_cast<float>(
                tensor::ElementAsDouble(w, ((i * g.out_channels + o) * kh + y) * kw + x));
          }));
      p.steps = steps;
      NPUKIT_RETURN_IF_ERROR(AddBiasAndRelu(c, p, ConstantBias(c.graph, n)));
      p.dst_first = y * out_width + x;
      EmitConv(c, p, t);
    }
  }
  c.EndTask(static_cast<std::uint64_t>(g.macs() * kh * kw));
  return OkStatus();
}

}  // namespace npukit::devices::npu_sim
