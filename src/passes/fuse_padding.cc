// Zeros put around an image become the padding of what reads it:
//   conv2d(pad(x))     ->  conv2d(x) with larger pads
//   avg_pool2d(pad(x)) ->  the same, counting the padding, where the pool had none of its own
// where only rows and columns are added. Exact: the same sums, in the same order.
#include "ops/pad.h"
#include "passes/list.h"
#include "passes/rewrite.h"

namespace npukit::passes {
namespace {

using ir::kNoValue;
using ir::ValueId;
using ops::Ints;

class PaddingFusion {
 public:
  explicit PaddingFusion(ir::Graph& g) : g_(g), rw_(g) {}

  Status Run(int* changes) {
    for (std::size_t slot = 0; slot < rw_.slots(); ++slot) {
      if (!rw_.alive(slot) || rw_.node(slot).is_foreign()) continue;
      NPUKIT_ASSIGN_OR_RETURN(const bool fused, Fuse(slot));
      if (fused) ++*changes;
    }
    rw_.Finish();
    return OkStatus();
  }

 private:
  // Zeros around rows and columns: top, left, bottom, right. nullopt for anything else.
  std::optional<Ints> MatchPad(const ir::Node& n, bool nhwc) const {
    const tensor::Type& x = g_.value(n.inputs[0]).type;
    if (n.attrs.String("mode", "constant") != "constant" || !x.is_tensor() || !x.shape ||
        x.shape->rank() != 4) {
      return std::nullopt;
    }
    std::vector<tensor::Value> lists(n.inputs.size());
    for (std::size_t i = 1; i < n.inputs.size(); ++i) {
      if (n.inputs[i] == kNoValue) continue;
      if (!g_.is_constant(n.inputs[i])) return std::nullopt;
      lists[i] = *g_.constant(n.inputs[i]);
    }
    if (lists.size() > 2 && lists[2].present() && tensor::ElementAsDouble(lists[2], 0) != 0)
      return std::nullopt;
    const auto plan = ops::PlanPad(4, lists);
    if (!plan.ok()) return std::nullopt;
    Ints pads;
    const std::size_t row = nhwc ? 1 : 2;
    for (std::size_t d = 0; d < 4; ++d) {
      const ops::Padding& p = (*plan)[d];
      const bool spatial = d == row || d == row + 1;
      if (p.begin < 0 || p.end < 0 || (!spatial && (p.begin != 0 || p.end != 0)))
        return std::nullopt;
    }
    pads = {(*plan)[row].begin, (*plan)[row + 1].begin, (*plan)[row].end, (*plan)[row + 1].end};
    return pads;
  }

  Result<bool> Fuse(std::size_t slot) {
    const ir::Node n = rw_.node(slot);
    const bool conv = n.op == &op::conv2d;
    if (!conv && n.op != &op::avg_pool2d) return false;
    const ir::Node* pad = rw_.ProducerNode(n.inputs[0], op::pad);
    const std::string_view auto_pad = n.attrs.String("auto_pad", "NOTSET");
    if (pad == nullptr || (auto_pad != "NOTSET" && auto_pad != "VALID" && !auto_pad.empty()))
      return false;
    const auto added = MatchPad(*pad, n.attrs.String("layout", "NCHW") == "NHWC");
    if (!added) return false;
    Ints pads = auto_pad == "VALID" ? Ints(4, 0) : n.attrs.IntList("pads", Ints(4, 0));
    if (pads.size() != 4) return false;
    if (!conv) {
      if (pads != Ints(4, 0) || n.attrs.Int("ceil_mode", 0) != 0) return false;
      const Ints kernel = n.attrs.IntList("kernel_shape");
      const Ints dilations = n.attrs.IntList("dilations", {1, 1});
      for (std::size_t i = 0; i < 4; ++i) {  // a pool's padding is smaller than its window
        if (kernel.size() != 2 || dilations.size() != 2 ||
            (*added)[i] > (kernel[i % 2] - 1) * dilations[i % 2]) {
          return false;
        }
      }
    }
    for (std::size_t i = 0; i < 4; ++i) {
      if (__builtin_add_overflow(pads[i], (*added)[i], &pads[i]) || pads[i] > (1 << 24))
        return false;
    }
    ir::Node fused = n;
    fused.inputs[0] = pad->inputs[0];
    fused.attrs.Set("pads", pads);
    fused.attrs.Erase("auto_pad");
    if (!conv) fused.attrs.Set("count_include_pad", std::int64_t{1});
    NPUKIT_RETURN_IF_ERROR(rw_.Replace(slot, std::move(fused)));
    rw_.Absorb(slot, {n.inputs[0]});
    return true;
  }

  ir::Graph& g_;
  Rewriter rw_;
};

Status Run(ir::Graph& g, const target::Profile&, int* changes) {
  return PaddingFusion(g).Run(changes);
}

}  // namespace
}  // namespace npukit::passes

namespace npukit::pass {
constinit const passes::PassDef fuse_padding = {
    .name = "fuse_padding", .summary = "pad an image where it is read", .run = passes::Run};
}  // namespace npukit::pass
