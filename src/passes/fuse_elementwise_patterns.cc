// What exporters spell out in pieces gets its name back:
//   clip(x * a + b, 0, 1), or a scaled form such as clip(x + 3, 0, 6) / 6   ->  hard_sigmoid(x; a,
//   b) x * hard_sigmoid(x; 1/6, 1/2), also as x * clip(x + 3, 0, 6) / 6       ->  hard_swish(x) x *
//   sigmoid(x)                                                         ->  swish(x)
// in every order of multiplying and dividing. Agreement: 1e-6 of the largest result (constants such
// as 1/6 are rounded once instead of twice).
#include <algorithm>
#include <cmath>
#include <vector>

#include "passes/list.h"
#include "passes/rewrite.h"

namespace npukit::passes {
namespace {

using ir::kNoValue;
using ir::ValueId;

bool Near(double a, double b) {
  return std::abs(a - b) <= 1e-6 * std::max(std::abs(a), std::abs(b));
}

// scale * hard_sigmoid(x; alpha, beta), and the slots whose nodes say so, the last one first.
struct Gate {
  ValueId x = kNoValue;
  double scale = 1;
  double alpha = 0;
  double beta = 0;
  std::vector<std::size_t> slots;
};

class Patterns {
 public:
  explicit Patterns(ir::Graph& g) : g_(g), rw_(g) {}

  Status Run(int* changes) {
    for (std::size_t slot = 0; slot < rw_.slots(); ++slot) {
      if (rw_.node(slot).is_foreign()) continue;
      NPUKIT_ASSIGN_OR_RETURN(bool changed, ToHardSwish(slot));
      if (!changed) {
        NPUKIT_ASSIGN_OR_RETURN(changed, ToSwish(slot));
      }
      if (!changed) {
        NPUKIT_ASSIGN_OR_RETURN(changed, ToHardSigmoid(slot));
      }
      if (changed) ++*changes;
    }
    rw_.Finish();
    return OkStatus();
  }

 private:
  // Swallowing needs each piece but the last to be read only by the next one.
  bool Swallowable(ValueId id) const { return rw_.Producer(id) && rw_.SingleUse(id); }

  // The node as k * input: mul or div by one number.
  struct Scaled {
    ValueId input;
    double k;
  };
  std::optional<Scaled> MatchScaled(const ir::Node& n) const {
    if (n.op != &op::mul && n.op != &op::div) return std::nullopt;
    const auto m = MatchWithConstant(g_, n);
    if (!m) return std::nullopt;
    const auto c = ScalarConstant(g_, m->constant);
    if (!c || (n.op == &op::div && (m->constant_first || *c == 0))) return std::nullopt;
    return Scaled{m->x, n.op == &op::mul ? static_cast<double>(*c) : 1.0 / static_cast<double>(*c)};
  }

  // k * x + b, through at most one mul or div and one add or sub.
  struct Affine {
    ValueId x;
    double k = 1;
    double b = 0;
    std::vector<std::size_t> slots;
  };
  Affine MatchAffine(ValueId id) const {
    Affine a{id, 1, 0, {}};
    if (!Swallowable(a.x)) return a;
    std::size_t slot = *rw_.Producer(a.x);
    const ir::Node* n = &rw_.node(slot);
    if (n->op == &op::add || n->op == &op::sub) {
      const auto m = MatchWithConstant(g_, *n);
      const auto c = m ? ScalarConstant(g_, m->constant) : std::nullopt;
      if (!c || (n->op == &op::sub && m->constant_first)) return a;
      a.b = n->op == &op::add ? *c : -static_cast<double>(*c);
      a.x = m->x;
      a.slots.push_back(slot);
      if (!Swallowable(a.x)) return a;
      slot = *rw_.Producer(a.x);
      n = &rw_.node(slot);
    }
    if (const auto s = MatchScaled(*n)) {
      a.k = s->k;
      a.x = s->input;
      a.slots.push_back(slot);
    }
    return a;
  }

  // The node in `slot` as a gate.
  std::optional<Gate> MatchGate(std::size_t slot) const {
    const ir::Node& n = rw_.node(slot);
    Gate gate;
    if (n.op == &op::hard_sigmoid) {
      gate = {n.inputs[0], 1, n.attrs.Float("alpha", 0.2f), n.attrs.Float("beta", 0.5f), {slot}};
      return gate;
    }
    if (n.op == &op::clip) {
      const double top = n.attrs.Float("max", INFINITY);
      if (n.attrs.Float("min", -INFINITY) != 0 || !std::isfinite(top) || top <= 0)
        return std::nullopt;
      const Affine a = MatchAffine(n.inputs[0]);
      gate = {a.x, top, a.k / top, a.b / top, {slot}};
      gate.slots.insert(gate.slots.end(), a.slots.begin(), a.slots.end());
      return gate;
    }
    const auto s = MatchScaled(n);
    if (!s || !Swallowable(s->input)) return std::nullopt;
    const std::size_t inner = *rw_.Producer(s->input);
    if (rw_.node(inner).op != &op::clip && rw_.node(inner).op != &op::hard_sigmoid)
      return std::nullopt;
    auto g = MatchGate(inner);
    if (!g) return std::nullopt;
    g->scale *= s->k;
    g->slots.insert(g->slots.begin(), slot);
    return g;
  }

  // The mul in `slot` as x * gate(x).
  std::optional<Gate> MatchGated(std::size_t slot) const {
    const ir::Node& n = rw_.node(slot);
    if (n.op != &op::mul) return std::nullopt;
    for (const int side : {0, 1}) {
      const ValueId id = n.inputs[static_cast<std::size_t>(side)];
      const ValueId x = n.inputs[static_cast<std::size_t>(1 - side)];
      if (id == kNoValue || !Swallowable(id)) continue;
      auto gate = MatchGate(*rw_.Producer(id));
      if (!gate || gate->x != x) continue;
      gate->slots.insert(gate->slots.begin(), slot);
      return gate;
    }
    return std::nullopt;
  }

  Result<bool> ToHardSwish(std::size_t slot) {
    auto gate = MatchGated(slot);
    if (!gate) {
      const auto s = MatchScaled(rw_.node(slot));
      if (!s || !Swallowable(s->input)) return false;
      gate = MatchGated(*rw_.Producer(s->input));
      if (!gate) return false;
      gate->scale *= s->k;
      gate->slots.insert(gate->slots.begin(), slot);
    }
    if (!Near(gate->scale, 1) || !Near(gate->alpha, 1.0 / 6) || !Near(gate->beta, 0.5))
      return false;
    return Put(op::hard_swish, *gate, {});
  }

  Result<bool> ToHardSigmoid(std::size_t slot) {
    if (rw_.node(slot).op == &op::hard_sigmoid) return false;
    const auto gate = MatchGate(slot);
    if (!gate || !Near(gate->scale, 1)) return false;
    // clip(x, 0, 1) alone is a clip, and clearer as one.
    if (gate->slots.size() == 1) return false;
    ops::Attrs attrs;
    attrs.Set("alpha", static_cast<float>(gate->alpha));
    attrs.Set("beta", static_cast<float>(gate->beta));
    return Put(op::hard_sigmoid, *gate, std::move(attrs));
  }

  Result<bool> ToSwish(std::size_t slot) {
    const ir::Node& n = rw_.node(slot);
    if (n.op != &op::mul) return false;
    for (const int side : {0, 1}) {
      const ValueId id = n.inputs[static_cast<std::size_t>(side)];
      const ir::Node* s = rw_.ProducerNode(id, op::sigmoid);
      if (!s || !rw_.SingleUse(id) || s->inputs[0] != n.inputs[static_cast<std::size_t>(1 - side)])
        continue;
      return Put(op::swish, Gate{s->inputs[0], 1, 0, 0, {slot, *rw_.Producer(id)}}, {});
    }
    return false;
  }

  // One node in the place of the gate's last one.
  Result<bool> Put(const ops::OpDef& op, const Gate& gate, ops::Attrs attrs) {
    // A constant of higher rank would have changed the shape on the way.
    const tensor::Type& from = g_.value(gate.x).type;
    const tensor::Type& to = g_.value(rw_.node(gate.slots[0]).outputs[0]).type;
    if (!from.is_tensor() || from.dtype != to.dtype || !from.shape || !to.shape) return false;
    if (from.shape->rank() != to.shape->rank()) return false;
    ir::Node fused = NodeLike(rw_.node(gate.slots[0]), op, {gate.x}, std::move(attrs));
    for (const std::size_t s : gate.slots) MergeFrom(fused, rw_.node(s));
    for (std::size_t i = 1; i < gate.slots.size(); ++i) rw_.Erase(gate.slots[i]);
    NPUKIT_RETURN_IF_ERROR(rw_.Replace(gate.slots[0], std::move(fused)));
    return true;
  }

  ir::Graph& g_;
  Rewriter rw_;
};

Status Run(ir::Graph& g, const target::Profile&, int* changes) { return Patterns(g).Run(changes); }

}  // namespace
}  // namespace npukit::passes

namespace npukit::pass {
constinit const passes::PassDef fuse_elementwise_patterns = {
    .name = "fuse_elementwise_patterns",
    .summary = "name hard_sigmoid, hard_swish and swish where they are spelled out",
    .run = passes::Run};
}  // namespace npukit::pass
