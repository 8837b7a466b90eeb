#include "devices/npu_sim/lower/group_conv.h"

#include <numeric>
#include <optional>

#include "base/text.h"

namespace npukit::devices::npu_sim {
namespace {

// `count` blocks of a value from block `begin` on.
Blocked Blocks(Blocked b, std::int64_t begin, std::int64_t channels) {
  b.at.addr = Word(b.at.addr + begin * b.plane_bytes());
  b.channels = channels;
  return b;
}

}  // namespace

GroupPlan PlanGroups(const ConvGeometry& g, std::int64_t group) {
  GroupPlan p;
  const std::int64_t in = g.channels / group, out = g.out_channels / group;
  // The fewest groups whose channels are whole blocks on both sides; all where none divide them.
  p.together = std::lcm(kLanes / std::gcd(in, kLanes), kLanes / std::gcd(out, kLanes));
  if (group % p.together != 0) p.together = group;
  p.parts = group / p.together;
  p.part = g;
  p.part.channels = in * p.together;
  p.part.out_channels = out * p.together;
  return p;
}

Status LowerGroupConv(Context& c, const ir::Node& n) {
  NPUKIT_ASSIGN_OR_RETURN(const ConvGeometry whole, GeometryOf(c.graph, n));
  const std::int64_t group = n.attrs.Int("group", 1);
  const GroupPlan plan = PlanGroups(whole, group);
  const ConvGeometry& g = plan.part;
  StepProblem problem;
  StepsPlan steps = PlanSteps(c.graph, n, &problem);
  Overflow overflow;
  const ConvTiling t = ChooseConvTiling(c.config, g, steps, &overflow);
  if (!problem.code.empty() || !overflow.fact.empty())
    return Internal(Cat("conv2d ", n.name, " was not asked about"));
  NPUKIT_RETURN_IF_ERROR(BindOperands(c, steps));
  NPUKIT_ASSIGN_OR_RETURN(const Blocked src, c.AsBlocked(n.inputs[0]));
  NPUKIT_ASSIGN_OR_RETURN(const Blocked dst, c.NewBlocked(n.outputs[0]));
  const tensor::Value& w = *c.graph.constant(n.inputs[1]);  // [O, I / group, kh, kw]
  const tensor::Value* bias = ConstantBias(c.graph, n);
  const std::int64_t in = whole.channels / group, out = whole.out_channels / group;
  std::optional<ConvTiling> best;  // parts are alike
  c.BeginTask(n.name);
  for (std::int64_t part = 0; part < plan.parts; ++part) {
    ConvProblem p;
    p.name = n.name;
    p.geometry = g;
    p.src = Blocks(src, part * g.in_blocks(), g.channels);
    p.dst = Blocks(dst, part * g.out_blocks(), g.out_channels);
    p.dst_image = g.out_height * g.out_width;
    p.dst_row = g.out_width;
    p.steps = steps;
    for (Step& s : p.steps.steps) {
      if (s.kind == OperandKind::kChannels || s.kind == OperandKind::kFull)
        s.source = Blocks(s.source, part * g.out_blocks(), g.out_channels);
    }
    NPUKIT_RETURN_IF_ERROR(
        AddCubeWeights(c, p, [&](std::int64_t o, std::int64_t i, std::int64_t kh, std::int64_t kw) {
          if (o / out != i / in) return 0.0f;
          const std::int64_t row = part * g.out_channels + o;
          return static_cast<float>(tensor::ElementAsDouble(
              w, ((row * in + i % in) * g.kernel_h + kh) * g.kernel_w + kw));
        }));
    std::optional<tensor::Value> own_bias;
    if (bias != nullptr) {
      std::vector<float> own;
      for (std::int64_t o = 0; o < g.out_channels; ++o)
        own.push_back(
            static_cast<float>(tensor::ElementAsDouble(*bias, part * g.out_channels + o)));
      own_bias = tensor::Value::FromVector(tensor::DType::kF32, {g.out_channels}, own);
    }
    NPUKIT_RETURN_IF_ERROR(AddBiasAndRelu(c, p, own_bias ? &*own_bias : nullptr));
    if (!best) best = SearchConvTiling(c, p, t);
    EmitConv(c, p, *best);
  }
  c.EndTask(static_cast<std::uint64_t>(whole.macs() / group));
  return OkStatus();
}

}  // namespace npukit::devices::npu_sim
