// What changes nothing goes away, and what has a plainer form gets it.
//
// - Removed: identity, cast to the same type, x*1, x/1, x+0, x-0, concat of one, reshape, expand or
//   tile to its own shape, transpose by identity, slice of all, pad by nothing, and an expand whose
//   reader broadcasts by itself.
// - Merged: transpose of transpose, reshape of reshape; squeeze and unsqueeze become reshapes where
//   the shape is known.
// - Plainer: x / 2^n -> x * 2^-n, x ^ 2 -> x * x, x ^ 0.5 -> sqrt(x), cast_like -> cast where the
//   type is known.
//
// Agreement: 1 unit in the last place (powers), otherwise exact but for the sign of zero (-0 + 0 is
// +0, and x + 0 -> x gives -0) and for -inf ^ 0.5, which becomes NaN.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "ops/pad.h"
#include "ops/rules.h"
#include "ops/slice.h"
#include "passes/list.h"
#include "passes/rewrite.h"

namespace npukit::passes {
namespace {

using ir::ValueId;
using ops::Ints;

class Simplifier {
 public:
  explicit Simplifier(ir::Graph& g) : g_(g), rw_(g) {}

  Status Run(int* changes) {
    for (std::size_t slot = 0; slot < rw_.slots(); ++slot) {
      if (rw_.node(slot).is_foreign() || !rw_.node(slot).epilogue.empty()) continue;
      // A node may need several steps: squeeze to reshape, reshape of reshape, reshape to its own
      // shape.
      for (bool changed = true; changed && rw_.alive(slot);) {
        NPUKIT_ASSIGN_OR_RETURN(changed, Step(slot));
        *changes += changed ? 1 : 0;
      }
    }
    rw_.Finish();
    return OkStatus();
  }

 private:
  const tensor::Type& TypeOf(ValueId id) const { return g_.value(id).type; }

  Result<bool> Step(std::size_t slot) {
    const ir::Node& n = rw_.node(slot);
    if (IsNoOp(n)) return rw_.Bypass(slot, NoOpInput(n));
    if (n.op == &op::transpose) return MergeTransposes(slot);
    if (n.op == &op::reshape) return MergeReshapes(slot);
    if (n.op == &op::squeeze || n.op == &op::unsqueeze) return ToReshape(slot);
    if (n.op == &op::expand) return DropExpand(slot);
    if (n.op == &op::div) return DivToMul(slot);
    if (n.op == &op::pow) return PowerToPlain(slot);
    if (n.op == &op::cast_like) return ToCast(slot);
    return false;
  }

  ValueId NoOpInput(const ir::Node& n) const {
    const auto m = MatchWithConstant(g_, n);
    return m ? m->x : n.inputs[0];
  }

  // Every element of the constant is `v`, and using it does not change the shape of x.
  bool IsNeutral(const WithConstant& m, const ir::Node& n, double v) const {
    const tensor::Value& c = *g_.constant(m.constant);
    if (!c.is_tensor() || c.count() < 1 || c.count() > 65536 || c.dtype() == tensor::DType::kString)
      return false;
    for (std::int64_t i = 0; i < c.count(); ++i) {
      if (tensor::ElementAsDouble(c, i) != v) return false;
    }
    const tensor::Type& x = TypeOf(m.x);
    if (SameStaticShape(x, TypeOf(n.outputs[0]))) return true;
    return c.count() == 1 && x.is_tensor() && x.shape && c.dims().size() <= x.shape->rank();
  }

  bool IsNoOp(const ir::Node& n) const {
    if (n.op == &op::identity) return true;
    if (n.op == &op::concat) return n.inputs.size() == 1;
    if (n.op == &op::cast) {
      const tensor::DType t = TypeOf(n.inputs[0]).dtype;
      return t != tensor::DType::kUndefined && n.attrs.Int("to") == static_cast<std::int64_t>(t);
    }
    if (n.op == &op::transpose) {
      const Ints perm = PermOf(n);
      return !perm.empty() && std::is_sorted(perm.begin(), perm.end());
    }
    if (n.op == &op::reshape || n.op == &op::expand || n.op == &op::tile)
      return SameStaticShape(TypeOf(n.inputs[0]), TypeOf(n.outputs[0]));
    if (n.op == &op::slice || n.op == &op::pad) return KeepsAll(n);
    const auto m = MatchWithConstant(g_, n);
    if (!m) return false;
    if (n.op == &op::mul) return IsNeutral(*m, n, 1);
    if (n.op == &op::add) return IsNeutral(*m, n, 0);
    if (n.op == &op::div) return !m->constant_first && IsNeutral(*m, n, 1);
    if (n.op == &op::sub) return !m->constant_first && IsNeutral(*m, n, 0);
    return false;
  }

  // A slice of everything in order, or a pad of nothing.
  bool KeepsAll(const ir::Node& n) const {
    if (!SameStaticShape(TypeOf(n.inputs[0]), TypeOf(n.outputs[0]))) return false;
    std::vector<tensor::Value> lists(n.inputs.size());
    for (std::size_t i = 1; i < n.inputs.size(); ++i) {
      if (n.inputs[i] == ir::kNoValue) continue;
      if (!g_.is_constant(n.inputs[i])) return false;
      lists[i] = *g_.constant(n.inputs[i]);
    }
    const tensor::Dims dims = TypeOf(n.inputs[0]).dims();
    if (n.op == &op::slice) {
      const auto cuts = ops::PlanSlice(dims, lists);
      return cuts.ok() && std::all_of(cuts->begin(), cuts->end(), [](const ops::Cut& c) {
               return c.count <= 1 || c.step == 1;
             });
    }
    const auto plan = ops::PlanPad(dims.size(), lists);
    return plan.ok() && std::all_of(plan->begin(), plan->end(), [](const ops::Padding& p) {
             return p.begin == 0 && p.end == 0;
           });
  }

  // Every reader broadcasts by itself, to the shape it has now.
  Result<bool> DropExpand(std::size_t slot) {
    const ir::Node n = rw_.node(slot);
    const ValueId out = n.outputs[0];
    const auto reader = rw_.OnlyReader(out);
    if (!reader || rw_.node(*reader).is_foreign() || !rw_.node(*reader).epilogue.empty())
      return false;
    const ir::Node& r = rw_.node(*reader);
    if (r.op->loop != ops::LoopShape::kBinary && r.op != &op::where) return false;
    const tensor::Type& result = TypeOf(r.outputs[0]);
    if (!result.is_static() || !TypeOf(n.inputs[0]).is_static()) return false;
    std::optional<tensor::Shape> shape = TypeOf(n.inputs[0]).shape;
    for (const ValueId id : r.inputs) {
      if (id == out) continue;
      auto both = ops::BroadcastShapes(shape, TypeOf(id).shape);
      if (!both.ok() || !*both) return false;
      shape = std::move(both).value();
    }
    if (*shape != *result.shape) return false;
    return rw_.Bypass(slot, n.inputs[0]);
  }

  // Empty when the rank is not known.
  Ints PermOf(const ir::Node& n) const {
    const tensor::Type& t = TypeOf(n.inputs[0]);
    if (!t.is_tensor() || !t.shape) return {};
    Ints reversed(t.shape->rank());
    std::iota(reversed.rbegin(), reversed.rend(), 0);
    const Ints perm = n.attrs.IntList("perm", reversed);
    return perm.size() == reversed.size() ? perm : Ints{};
  }

  Result<bool> MergeTransposes(std::size_t slot) {
    const ir::Node& n = rw_.node(slot);
    const ir::Node* inner = rw_.ProducerNode(n.inputs[0], op::transpose);
    if (!inner) return false;
    const Ints q = PermOf(n);
    const Ints p = PermOf(*inner);
    if (q.empty() || p.size() != q.size()) return false;
    Ints both;
    for (const std::int64_t a : q) both.push_back(p[static_cast<std::size_t>(a)]);
    ir::Node merged = NodeLike(n, op::transpose, {inner->inputs[0]});
    merged.attrs.Set("perm", both);
    return Swallow(slot, *inner, std::move(merged));
  }

  Result<bool> MergeReshapes(std::size_t slot) {
    const ir::Node& n = rw_.node(slot);
    const ir::Node* inner = rw_.ProducerNode(n.inputs[0], op::reshape);
    if (!inner || !TypeOf(n.outputs[0]).is_static()) return false;
    const tensor::Dims to = TypeOf(n.outputs[0]).dims();
    const ValueId dims = AddInt64s(g_, NameOf(g_, n.outputs[0], "_dims"), to);
    return Swallow(slot, *inner, NodeLike(n, op::reshape, {inner->inputs[0], dims}, ReshapeTo(to)));
  }

  // `merged` reads what `inner` read. The inner node stays while others read it, and dies unread
  // otherwise.
  Result<bool> Swallow(std::size_t slot, const ir::Node& inner, ir::Node merged) {
    MergeFrom(merged, inner);
    NPUKIT_RETURN_IF_ERROR(rw_.Replace(slot, std::move(merged)));
    return true;
  }

  Result<bool> ToReshape(std::size_t slot) {
    const ir::Node& n = rw_.node(slot);
    if (!TypeOf(n.inputs[0]).is_tensor() || !TypeOf(n.outputs[0]).is_static()) return false;
    const tensor::Dims to = TypeOf(n.outputs[0]).dims();
    const ValueId dims = AddInt64s(g_, NameOf(g_, n.outputs[0], "_dims"), to);
    NPUKIT_RETURN_IF_ERROR(
        rw_.Replace(slot, NodeLike(n, op::reshape, {n.inputs[0], dims}, ReshapeTo(to))));
    return true;
  }

  Result<bool> DivToMul(std::size_t slot) {
    const ir::Node& n = rw_.node(slot);
    const auto c = ScalarConstant(g_, n.inputs[1]);
    if (!c || g_.is_constant(n.inputs[0])) return false;
    int exponent = 0;
    if (std::abs(std::frexp(*c, &exponent)) != 0.5f || !std::isnormal(1 / *c)) return false;
    auto inverse = tensor::Value::Allocate(tensor::DType::kF32, g_.constant(n.inputs[1])->dims());
    if (!inverse.ok()) return inverse.status();
    inverse->as_mutable<float>()[0] = 1 / *c;
    const ValueId k =
        g_.AddConstant(NameOf(g_, n.inputs[1], "_inverse"), std::move(inverse).value());
    NPUKIT_RETURN_IF_ERROR(rw_.Replace(slot, NodeLike(n, op::mul, {n.inputs[0], k})));
    return true;
  }

  Result<bool> PowerToPlain(std::size_t slot) {
    const ir::Node& n = rw_.node(slot);
    const auto c = ScalarConstant(g_, n.inputs[1]);
    const tensor::Type& x = TypeOf(n.inputs[0]);
    if (!c || !x.is_tensor() || !x.shape || !tensor::IsFloat(x.dtype)) return false;
    if (g_.constant(n.inputs[1])->dims().size() > x.shape->rank()) return false;
    if (*c == 0.5f) {
      NPUKIT_RETURN_IF_ERROR(rw_.Replace(slot, NodeLike(n, op::sqrt, {n.inputs[0]})));
      return true;
    }
    if (*c != 2) return false;
    NPUKIT_RETURN_IF_ERROR(rw_.Replace(slot, NodeLike(n, op::mul, {n.inputs[0], n.inputs[0]})));
    return true;
  }

  Result<bool> ToCast(std::size_t slot) {
    const ir::Node& n = rw_.node(slot);
    const tensor::DType to = TypeOf(n.inputs[1]).dtype;
    if (to == tensor::DType::kUndefined) return false;
    ir::Node cast = NodeLike(n, op::cast, {n.inputs[0]});
    cast.attrs = n.attrs;
    cast.attrs.Set("to", static_cast<std::int64_t>(to));
    NPUKIT_RETURN_IF_ERROR(rw_.Replace(slot, std::move(cast)));
    return true;
  }

  ir::Graph& g_;
  Rewriter rw_;
};

Status Run(ir::Graph& g, const target::Profile&, int* changes) {
  NPUKIT_RETURN_IF_ERROR(Simplifier(g).Run(changes));
  // Transposes and reshapes that were merged into their readers are dead now; later passes count
  // readers.
  ir::RemoveDead(g);
  return OkStatus();
}

}  // namespace
}  // namespace npukit::passes

namespace npukit::pass {
constinit const passes::PassDef simplify = {
    .name = "simplify",
    .summary = "remove what changes nothing, merge movements",
    .run = passes::Run,
    .in_bodies = true};
}  // namespace npukit::pass
