// Pooling: windows without weights.
#include "base/text.h"
#include "devices/npu_sim/lower/depthwise.h"

namespace npukit::devices::npu_sim {

Status LowerPool(Context& c, const ir::Node& n) {
  WindowProblem p;
  NPUKIT_ASSIGN_OR_RETURN(p.geometry, GeometryOf(c.graph, n));
  const bool max = n.op == &op::max_pool2d;
  p.op = max ? npu::WindowOp::kMax : npu::WindowOp::kSum;
  p.padding = max ? 0xFC00 : 0;  // -infinity
  if (!max) p.scale = 1.0f / static_cast<float>(p.geometry.taps());
  Overflow overflow;
  const WindowTiling t = ChooseWindowTiling(c.config, p.geometry, p.steps, &overflow);
  if (!overflow.fact.empty())
    return Internal(Cat(n.op_name(), " ", n.name, " was not asked about"));
  NPUKIT_ASSIGN_OR_RETURN(p.src, c.AsBlocked(n.inputs[0]));
  NPUKIT_ASSIGN_OR_RETURN(p.dst, c.NewBlocked(n.outputs[0]));
  const WindowTiling best = SearchWindowTiling(c, p, t);
  c.BeginTask(n.name);
  EmitWindow(c, p, best);
  c.EndTask(0);
  return OkStatus();
}

}  // namespace npukit::devices::npu_sim
