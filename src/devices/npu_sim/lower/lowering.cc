#include "devices/npu_sim/lower/lowering.h"

#include <utility>

#include "base/text.h"
#include "devices/npu_sim/lower/context.h"
#include "devices/npu_sim/lower/memo.h"
#include "devices/npu_sim/lower/move.h"
#include "devices/npu_sim/lower/supports.h"
#include "devices/npu_sim/model/model.h"

namespace npukit::devices::npu_sim {

Status LowerNode(Context& c, std::size_t node) {
  const ir::Node& n = c.graph.nodes[node];
  const ops::OpDef* o = n.op;
  if (o == &op::conv2d) {
    const std::int64_t group = n.attrs.Int("group", 1);
    if (group == 1) return LowerConv(c, n);
    const bool depthwise =
        group == c.dims(n.inputs[0]).back() && group == c.dims(n.outputs[0]).back();
    return depthwise ? LowerDepthwise(c, n) : LowerGroupConv(c, n);
  }
  if (o == &op::conv_transpose2d) return LowerConvTranspose(c, n);
  if (o == &op::max_pool2d || o == &op::avg_pool2d) return LowerPool(c, n);
  if (o == &op::matmul) return LowerMatMul(c, n);
  if (o->loop == ops::LoopShape::kReduce) return LowerReduce(c, n);
  if (o == &op::layer_normalization) return LowerLayerNorm(c, n);
  if (o == &op::softmax) return LowerSoftmax(c, n);
  if (o == &op::resize) return LowerResize(c, n);
  if (o == &op::concat) return LowerConcat(c, n);
  if (IsRemap(o)) return LowerRemap(c, n);
  if (o == &op::transpose) {
    c.Defer(node);
    return OkStatus();
  }
  if (IsAlias(o)) return LowerReshape(c, n);
  return LowerElementwise(c, n);
}

namespace {

class NpuLowering final : public compile::Lowering {
 public:
  std::string_view device() const override { return "npu_sim"; }
  std::string_view device_class() const override { return "NPU"; }
  compile::Precision precision() const override { return compile::Precision::kFp16; }

  target::Verdict Supports(const ir::Graph& g, const ir::Node& n,
                           const target::Profile& p) const override {
    return Judge(g, n, p);
  }

  // The node alone, with its inputs in the workspace already; conversions that the node itself
  // needs are part of it.
  target::Estimate Cost(const ir::Graph& g, const ir::Node& n,
                        const target::Profile& p) const override {
    target::Estimate none;
    auto config = ReadConfig(p);
    if (!config.ok()) return none;
    config->memo = &memo_;
    Context c(g, *config);
    for (const ir::ValueId id : n.inputs) {
      if (id != ir::kNoValue && !g.is_constant(id) && !c.NewBlocked(id).ok()) return none;
    }
    const auto node = static_cast<std::size_t>(&n - g.nodes.data());
    NPUKIT_CHECK(node < g.nodes.size());
    if (!LowerNode(c, node).ok() || !c.AsBlocked(n.outputs[0]).ok()) return none;
    target::Estimate sum;
    for (const npu::Task& t : c.program.tasks)
      sum += npu::EstimateTask(c.program, t, config->rates);
    return sum;
  }

  // Flush and hand over once per crossing, move the bytes, and one task that changes type and
  // format.
  target::Estimate BoundaryCost(const tensor::Type& t, const target::Profile& p) const override {
    target::Estimate e = npu::EstimateHandOver(t, p);
    e.time_ns += p.NumberOr("npu.dispatch_us", 0) * 1e3;
    return e;
  }

  Result<compile::Lowered> Lower(const ir::Graph& g, const target::Profile& p,
                                 const compile::LowerOptions& o) const override {
    NPUKIT_ASSIGN_OR_RETURN(Config config, ReadConfig(p));
    config.memo = &memo_;
    Context c(g, config);
    for (std::size_t i = 0; i < g.nodes.size(); ++i) {
      const ir::Node& n = g.nodes[i];
      const Status s = LowerNode(c, i);
      if (!s.ok())
        return s.WithContext(Cat("lowering ", n.op_name(), " ", Printable(n.name), " for the NPU"));
      if (o.progress)
        o.progress("lowering for the NPU", static_cast<int>(i + 1),
                   static_cast<int>(g.nodes.size()));
    }
    NPUKIT_RETURN_IF_ERROR(c.Finish());
    compile::Lowered lowered;
    NPUKIT_ASSIGN_OR_RETURN(lowered.estimate, npu::EstimateProgram(c.program, p));
    lowered.blob = npu::Pack(c.program);
    lowered.weights = std::move(c.weights);
    lowered.scratch_bytes = c.program.workspace_bytes;
    return lowered;
  }

  Result<target::Account> AccountOf(std::span<const std::byte> blob, const target::Profile& p,
                                    target::Relief relief, bool spans) const override {
    NPUKIT_ASSIGN_OR_RETURN(const npu::Program program, npu::Unpack(blob));
    NPUKIT_RETURN_IF_ERROR(npu::Check(program));
    return npu::AccountProgram(program, p, relief, spans);
  }

 private:
  mutable TilingMemo memo_;
};

}  // namespace

std::shared_ptr<const compile::Lowering> MakeLowering() { return std::make_shared<NpuLowering>(); }

}  // namespace npukit::devices::npu_sim
