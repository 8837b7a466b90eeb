// NCHW becomes NHWC: the order every kernel here computes in. One walk; no transpose is moved
// afterwards, because none is placed before it is needed.
//
// Each value may have a *twin*: the same numbers in another order of dimensions, value ==
// transpose(twin, perm). Spatial operators compute twins with perm {0, 3, 1, 2} (NHWC to NCHW). An
// operator that may follow (elementwise, concat, reduce,
// ...) computes its result's twin when that needs no more reordering than computing the result
// itself. The model's own transposes only define a twin. A value itself is made from its twin when
// somebody insists: a transpose, or a reshape where only dimensions of size 1 move. Exact: the same
// numbers in the same order of operations.
#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "base/text.h"
#include "ir/node.h"
#include "passes/list.h"
#include "passes/rewrite.h"

namespace npukit::passes {
namespace {

using ir::kNoValue;
using ir::ValueId;
using ops::Ints;

const Ints& NhwcToNchw() {
  static const Ints perm = {0, 3, 1, 2};
  return perm;
}

Ints Identity(std::size_t rank) {
  Ints p(rank);
  std::iota(p.begin(), p.end(), 0);
  return p;
}

Ints Inverse(const Ints& p) {
  Ints q(p.size());
  for (std::size_t i = 0; i < p.size(); ++i)
    q[static_cast<std::size_t>(p[i])] = static_cast<std::int64_t>(i);
  return q;
}

// transpose(transpose(t, p), q) == transpose(t, Compose(p, q)).
Ints Compose(const Ints& p, const Ints& q) {
  Ints r(q.size());
  for (std::size_t i = 0; i < q.size(); ++i) r[i] = p[static_cast<std::size_t>(q[i])];
  return r;
}

bool IsPermutation(Ints p) {
  std::sort(p.begin(), p.end());
  return p == Identity(p.size());
}

std::size_t Axis(std::int64_t axis, std::size_t rank) {
  return static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis);
}

// Does transposing a tensor of these dims by p keep the bytes as they are? Only sizes of 1 change
// place then.
bool MovesNothing(const tensor::Dims& dims, const Ints& p) {
  std::int64_t last = -1;
  for (const std::int64_t a : p) {
    if (dims[static_cast<std::size_t>(a)] == 1) continue;
    if (a < last) return false;
    last = a;
  }
  return true;
}

class LayoutWalk {
 public:
  explicit LayoutWalk(ir::Graph& g) : g_(g) {}

  Status Run(int* changes) {
    std::vector<ir::Node> nodes = std::move(g_.nodes);
    g_.nodes.clear();
    for (ir::Node& n : nodes) {
      for (ValueId& id : n.inputs) {
        if (const auto it = same_as_.find(id); it != same_as_.end()) id = it->second;
      }
      NPUKIT_ASSIGN_OR_RETURN(const bool changed, Visit(n));
      if (changed) {
        ++*changes;
        continue;
      }
      for (const ValueId id : n.inputs) NPUKIT_RETURN_IF_ERROR(MakeReal(id));
      NPUKIT_RETURN_IF_ERROR(Emit(std::move(n)));
    }
    for (const ValueId id : g_.outputs) NPUKIT_RETURN_IF_ERROR(MakeOutput(id));
    for (const ir::State& s : g_.states) NPUKIT_RETURN_IF_ERROR(MakeOutput(s.output));
    return OkStatus();
  }

 private:
  struct Twin {
    ValueId id = kNoValue;
    Ints perm;
    std::vector<std::uint32_t>
        from;  // the model's own transposes in perm; they move with it and may cancel
  };

  const tensor::Type& TypeOf(ValueId id) const { return g_.value(id).type; }
  std::optional<std::size_t> RankOf(ValueId id) const {
    const tensor::Type& t = TypeOf(id);
    if (!t.is_tensor() || !t.shape) return std::nullopt;
    return t.shape->rank();
  }
  const Twin* TwinOf(ValueId id) const {
    const auto it = twins_.find(id);
    return it == twins_.end() ? nullptr : &it->second;
  }
  bool IsReal(ValueId id) const { return !lazy_.contains(id); }

  Status Emit(ir::Node n) {
    const auto r = g_.AddNode(std::move(n));
    return r.status();
  }

  // A movement. It comes from the model's own transposes that it does the work of, often none.
  Status EmitMove(const ops::OpDef& op, std::vector<ValueId> inputs, ValueId out, ops::Attrs attrs,
                  std::vector<std::uint32_t> from) {
    ir::Node n;
    n.from = std::move(from);
    n.op = &op;
    n.name = g_.value(out).name;
    n.inputs = std::move(inputs);
    n.outputs = {out};
    n.attrs = std::move(attrs);
    return Emit(std::move(n));
  }

  // out = transpose(x, perm), as a reshape where no byte moves.
  Status EmitTranspose(ValueId x, const Ints& perm, ValueId out,
                       const std::vector<std::uint32_t>& from) {
    if (TypeOf(x).is_static()) {
      const tensor::Dims dims = TypeOf(x).dims();
      if (MovesNothing(dims, perm)) {
        tensor::Dims to;
        for (const std::int64_t a : perm) to.push_back(dims[static_cast<std::size_t>(a)]);
        return EmitMove(op::reshape, {x, AddInt64s(g_, NameOf(g_, out, "_dims"), to)}, out,
                        ReshapeTo(to), from);
      }
    }
    ops::Attrs attrs;
    attrs.Set("perm", perm);
    return EmitMove(op::transpose, {x}, out, std::move(attrs), from);
  }

  // The value itself, made from its twin now if it does not exist yet.
  Status MakeReal(ValueId id) {
    if (id == kNoValue || IsReal(id)) return OkStatus();
    const Twin twin = *TwinOf(id);
    lazy_.erase(id);
    return EmitTranspose(twin.id, twin.perm, id, twin.from);
  }

  // A graph's output keeps its id and name even where it turned out to be the same as another
  // value.
  Status MakeOutput(ValueId id) {
    const auto it = same_as_.find(id);
    if (it == same_as_.end()) return MakeReal(id);
    const ValueId same = it->second;
    same_as_.erase(it);
    return EmitMove(op::identity, {same}, id, {}, {});
  }

  // A twin of `id` with this perm, made now if need be. Values of lower rank get dimensions of size
  // 1 in front first.
  Result<ValueId> Get(ValueId id, const Ints& perm) {
    const Twin* old = TwinOf(id);
    if (old && old->perm == perm) return old->id;
    if (old && !IsReal(id) && old->perm.size() == perm.size()) {
      const ValueId twin = g_.AddValue(TwinName(id, perm), {});
      NPUKIT_RETURN_IF_ERROR(
          EmitTranspose(old->id, Compose(old->perm, Inverse(perm)), twin, old->from));
      twins_[id] = Twin{twin, perm, {}};
      return twin;
    }
    NPUKIT_RETURN_IF_ERROR(MakeReal(id));
    ValueId full = id;
    if (*RankOf(id) < perm.size()) {
      tensor::Dims dims = TypeOf(id).dims();
      dims.insert(dims.begin(), perm.size() - dims.size(), 1);
      full = g_.AddValue(NameOf(g_, id, "_full"), {});
      NPUKIT_RETURN_IF_ERROR(EmitMove(op::reshape,
                                      {id, AddInt64s(g_, NameOf(g_, full, "_dims"), dims)}, full,
                                      ReshapeTo(dims), {}));
    }
    const ValueId twin = g_.AddValue(TwinName(id, perm), {});
    NPUKIT_RETURN_IF_ERROR(EmitTranspose(full, Inverse(perm), twin, {}));
    if (full == id) twins_[id] = Twin{twin, perm, {}};
    return twin;
  }

  // From now on `id` is known through its twin only.
  void SetLazy(ValueId id, Twin twin) {
    twins_[id] = std::move(twin);
    lazy_.insert(id);
  }

  std::string TwinName(ValueId id, const Ints& perm) const {
    return NameOf(g_, id, perm == NhwcToNchw() ? "_nhwc" : "_t");
  }

  // Emits `n` making a twin of its result in place of the result.
  Status EmitTwin(ir::Node n, const Ints& perm, std::vector<std::uint32_t> from) {
    const ValueId out = n.outputs[0];
    if (perm == Identity(perm.size())) return Emit(std::move(n));
    const ValueId twin = g_.AddValue(TwinName(out, perm), {});
    n.outputs = {twin};
    NPUKIT_RETURN_IF_ERROR(Emit(std::move(n)));
    SetLazy(out, Twin{twin, perm, std::move(from)});
    return OkStatus();
  }

  // True when the node has been dealt with; false: it is emitted as it is.
  Result<bool> Visit(const ir::Node& n) {
    if (n.is_foreign() || !n.bodies.empty() || n.outputs.size() != 1) return false;
    if (n.op == &op::transpose) return VisitTranspose(n);
    if (n.op == &op::reshape) return VisitReshape(n);
    if (n.op == &op::slice || n.op == &op::pad) return VisitCut(n);
    if (n.op->layout == ops::LayoutRule::kSpatial) return VisitSpatial(n);
    if (n.op->layout == ops::LayoutRule::kFixed) return false;
    return VisitFollower(n);
  }

  Result<bool> VisitSpatial(const ir::Node& n) {
    if (n.attrs.String("layout", "NCHW") != "NCHW" || RankOf(n.inputs[0]) != 4u) return false;
    NPUKIT_ASSIGN_OR_RETURN(const std::size_t own, ops::OwnInputCount(n.epilogue, n.inputs.size()));
    for (const ops::EpilogueStep& s : n.epilogue) {
      if (s.operand < 0) continue;
      if (!MayFollow(n.inputs[static_cast<std::size_t>(s.operand)], 4)) return false;
    }
    ir::Node nhwc = n;
    nhwc.attrs.Set("layout", std::string("NHWC"));
    NPUKIT_ASSIGN_OR_RETURN(nhwc.inputs[0], Get(n.inputs[0], NhwcToNchw()));
    for (std::size_t i = 1; i < n.inputs.size(); ++i) {
      if (i < own) {
        NPUKIT_RETURN_IF_ERROR(
            MakeReal(n.inputs[i]));  // weights, bias, statistics: their order does not change
      } else if (!IsOneElement(n.inputs[i])) {
        NPUKIT_ASSIGN_OR_RETURN(nhwc.inputs[i], Get(n.inputs[i], NhwcToNchw()));
      }
    }
    NPUKIT_RETURN_IF_ERROR(EmitTwin(std::move(nhwc), NhwcToNchw(), {}));
    return true;
  }

  // The model's own transpose costs nothing until its result is needed; two that cancel never are.
  Result<bool> VisitTranspose(const ir::Node& n) {
    const ValueId x = n.inputs[0];
    const auto rank = RankOf(x);
    if (!rank || g_.is_constant(x)) return false;
    Ints q = Identity(*rank);
    std::reverse(q.begin(), q.end());
    q = n.attrs.IntList("perm", q);
    if (q.size() != *rank || !IsPermutation(q)) return false;
    const Twin* twin = TwinOf(x);
    if (twin && Compose(twin->perm, q) == Identity(*rank)) {
      same_as_[n.outputs[0]] = twin->id;
    } else if (twin && !IsReal(x)) {
      ir::Node both = n;
      both.from = twin->from;
      MergeFrom(both, n);
      SetLazy(n.outputs[0], Twin{twin->id, Compose(twin->perm, q), both.from});
    } else {
      SetLazy(n.outputs[0], Twin{x, q, n.from});
    }
    return true;
  }

  // Which dimensions of `from` become which of `to`: [from_begin, from_end) and [to_begin, to_end).
  struct Group {
    std::size_t from_begin, from_end, to_begin, to_end;
  };
  // Every dimension splits into several or several merge into one; empty for anything else.
  static std::vector<Group> Regroup(const tensor::Dims& from, const tensor::Dims& to) {
    std::vector<Group> groups;
    std::size_t i = 0, k = 0;
    while (i < from.size() && k < to.size()) {
      Group g{i, i + 1, k, k + 1};
      std::int64_t a = from[i++], b = to[k++];
      while (a != b && a > 0 && b > 0) {
        if (a < b) {
          if (i == from.size()) return {};
          a *= from[i++];
        } else {
          if (k == to.size()) return {};
          b *= to[k++];
        }
      }
      if (a != b || a == 0) return {};
      g.from_end = i, g.to_end = k;
      if (g.from_end - g.from_begin > 1 && g.to_end - g.to_begin > 1) return {};
      groups.push_back(g);
    }
    return i == from.size() && k == to.size() ? groups : std::vector<Group>{};
  }

  // A reshape that splits or merges dimensions passes too. What merges must lie side by side in the
  // twin; where it does not, the twin is reordered first if that gives an image in NHWC again
  // (shuffled channels): making the value itself would reorder as much.
  Result<bool> VisitRegrouping(const ir::Node& n, const tensor::Dims& from,
                               const tensor::Dims& to) {
    const ValueId x = n.inputs[0];
    const Twin twin = *TwinOf(x);
    std::vector<Group> groups = Regroup(from, to);
    if (groups.empty()) return false;
    const auto place = [&](const Group& g) {  // in the twin: where its first dimension lies
      std::int64_t first = twin.perm[g.from_begin];
      for (std::size_t i = g.from_begin; i < g.from_end; ++i) first = std::min(first, twin.perm[i]);
      return first;
    };
    std::sort(groups.begin(), groups.end(),
              [&](const Group& a, const Group& b) { return place(a) < place(b); });
    Ints order(from.size()), out_perm(to.size());
    tensor::Dims twin_dims;
    std::int64_t next = 0;
    for (const Group& g : groups) {
      for (std::size_t i = g.from_begin; i < g.from_end; ++i) order[i] = next++;
      for (std::size_t i = g.to_begin; i < g.to_end; ++i) {
        out_perm[i] = static_cast<std::int64_t>(twin_dims.size());
        twin_dims.push_back(to[i]);
      }
    }
    const bool follows = order == twin.perm;
    if (!follows && out_perm != NhwcToNchw()) return false;
    NPUKIT_ASSIGN_OR_RETURN(const ValueId ordered, Get(x, order));
    NPUKIT_RETURN_IF_ERROR(
        EmitTwin(NodeLike(n, op::reshape,
                          {ordered, AddInt64s(g_, NameOf(g_, n.outputs[0], "_dims"), twin_dims)},
                          ReshapeTo(twin_dims)),
                 out_perm, follows ? twin.from : std::vector<std::uint32_t>{}));
    return true;
  }

  // A reshape that only drops or adds dimensions of size 1 passes: the twin is reshaped alike.
  Result<bool> VisitReshape(const ir::Node& n) {
    const ValueId x = n.inputs[0];
    const Twin* twin = TwinOf(x);
    if (!twin || IsReal(x) || !TypeOf(x).is_static() || !TypeOf(n.outputs[0]).is_static())
      return false;
    const tensor::Dims from = TypeOf(x).dims();
    const tensor::Dims to = TypeOf(n.outputs[0]).dims();
    const auto larger = [](const tensor::Dims& dims) {
      std::vector<std::size_t> at;
      for (std::size_t i = 0; i < dims.size(); ++i) {
        if (dims[i] != 1) at.push_back(i);
      }
      return at;
    };
    const std::vector<std::size_t> x_at = larger(from);
    const std::vector<std::size_t> y_at = larger(to);
    bool same = x_at.size() == y_at.size();
    for (std::size_t i = 0; same && i < x_at.size(); ++i) same = from[x_at[i]] == to[y_at[i]];
    if (!same) return VisitRegrouping(n, from, to);
    // Dimensions of size 1 keep their place; the others take the places left, in the twin's order.
    const Ints place_in_twin = twin->perm;  // x's dimension i is the twin's dimension perm[i]
    std::vector<std::size_t> order(x_at.size());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return place_in_twin[x_at[a]] < place_in_twin[x_at[b]];
    });
    tensor::Dims twin_dims = to;
    Ints perm = Identity(to.size());
    for (std::size_t k = 0; k < order.size(); ++k) {
      twin_dims[y_at[k]] = to[y_at[order[k]]];
      perm[y_at[order[k]]] = static_cast<std::int64_t>(y_at[k]);
    }
    const ValueId out = n.outputs[0];
    NPUKIT_RETURN_IF_ERROR(EmitTwin(
        NodeLike(n, op::reshape, {twin->id, AddInt64s(g_, NameOf(g_, out, "_dims"), twin_dims)},
                 ReshapeTo(twin_dims)),
        perm, twin->from));
    return true;
  }

  bool IsOneElement(ValueId id) const {
    const tensor::Type& t = TypeOf(id);
    return t.is_static() && tensor::ElementCount(t.dims()) == 1;
  }

  // Can this operand be had in another order of `rank` dimensions?
  bool MayFollow(ValueId id, std::size_t rank) const {
    if (id == kNoValue) return false;
    const auto r = RankOf(id);
    return r && (*r == rank || (*r < rank && TypeOf(id).is_static()));
  }

  double Elements(ValueId id) const {
    const tensor::Type& t = TypeOf(id);
    if (!t.is_static()) return 1;  // somewhere between nothing and everything
    return static_cast<double>(tensor::ElementCount(t.dims()).value_or(0));
  }

  Result<bool> VisitFollower(const ir::Node& n) {
    const auto out_rank = IsReduction(n) ? RankOf(n.inputs[0]) : RankOf(n.outputs[0]);
    if (!out_rank) return false;
    // The order to follow: that of the largest operand that exists only as a twin.
    const Twin* lead = nullptr;
    ValueId lead_value = kNoValue;
    double lead_size = -1;
    for (const ValueId id : n.inputs) {
      const Twin* t = TwinOf(id);
      if (!MayFollow(id, *out_rank)) return false;
      if (t && t->perm.size() == *out_rank && Elements(id) > lead_size) {
        lead = t;
        lead_value = id;
        lead_size = Elements(id);
      }
    }
    if (!lead) return false;
    const Ints perm = lead->perm;
    const std::vector<std::uint32_t> from =
        IsReal(lead_value) ? std::vector<std::uint32_t>{} : lead->from;
    double as_is = 0;
    double following = 0;
    for (const ValueId id : n.inputs) {
      if (g_.is_constant(id) || IsOneElement(id)) continue;
      if (!IsReal(id)) as_is += Elements(id);
      const Twin* t = TwinOf(id);
      if (!t || t->perm != perm) following += Elements(id);
    }
    if (following > as_is) return false;

    ir::Node twin = n;
    Ints out_perm = perm;
    if (!RemapAttributes(n, perm, &twin, &out_perm)) return false;
    for (ValueId& id : twin.inputs) {
      if (n.op->layout == ops::LayoutRule::kBroadcast && IsOneElement(id)) {
        NPUKIT_RETURN_IF_ERROR(MakeReal(id));  // one number fits any order
      } else {
        NPUKIT_ASSIGN_OR_RETURN(id, Get(id, perm));
      }
    }
    NPUKIT_RETURN_IF_ERROR(EmitTwin(std::move(twin), out_perm, from));
    return true;
  }

  static bool IsReduction(const ir::Node& n) { return n.op->loop == ops::LoopShape::kReduce; }

  // A slice or pad of an image by constant lists names its axes: in a twin they have other numbers.
  // (Of a sequence whose heads are put in front, the pieces are cut off better afterwards: once.)
  Result<bool> VisitCut(const ir::Node& n) {
    constexpr std::size_t kAxes = 3;  // the input with the axes, of both
    const Twin* known = TwinOf(n.inputs[0]);
    if (!known || IsReal(n.inputs[0]) || known->perm != NhwcToNchw()) return false;
    const Twin twin = *known;
    for (std::size_t i = 1; i < n.inputs.size(); ++i) {
      if (n.inputs[i] != kNoValue && !g_.is_constant(n.inputs[i])) return false;
    }
    const std::size_t rank = twin.perm.size();
    Ints axes;
    if (n.inputs.size() > kAxes && n.inputs[kAxes] != kNoValue) {
      axes = tensor::ToInt64s(*g_.constant(n.inputs[kAxes]));
    } else {
      const std::int64_t lists =
          n.op == &op::slice ? g_.constant(n.inputs[1])->count() : static_cast<std::int64_t>(rank);
      for (std::int64_t a = 0; a < lists; ++a) axes.push_back(a);
    }
    for (std::int64_t& a : axes) {
      if (Axis(a, rank) >= rank) return false;
      a = twin.perm[Axis(a, rank)];
    }
    ir::Node cut = n;
    cut.inputs[0] = twin.id;
    if (cut.inputs.size() <= kAxes) cut.inputs.resize(kAxes + 1, kNoValue);
    cut.inputs[kAxes] = AddInt64s(g_, NameOf(g_, n.outputs[0], "_axes"), axes);
    NPUKIT_RETURN_IF_ERROR(EmitTwin(std::move(cut), twin.perm, twin.from));
    return true;
  }

  // Axes in the twin's order. False: this node cannot follow.
  bool RemapAttributes(const ir::Node& n, const Ints& perm, ir::Node* twin, Ints* out_perm) {
    const std::size_t rank = perm.size();
    if (n.op->layout != ops::LayoutRule::kAxes) return true;
    if (n.attrs.Find("axis")) {
      const std::size_t axis = Axis(n.attrs.Int("axis"), rank);
      if (axis >= rank) return false;
      twin->attrs.Set("axis", perm[axis]);
      return true;
    }
    if (n.op == &op::softmax) {
      twin->attrs.Set("axis", perm[rank - 1]);
      return true;
    }
    if (!IsReduction(n)) return false;  // an operator with axes this pass does not know
    std::vector<bool> reduced(rank, !n.attrs.Find("axes"));
    for (const std::int64_t a : n.attrs.IntList("axes")) {
      if (Axis(a, rank) >= rank) return false;
      reduced[Axis(a, rank)] = true;
    }
    Ints axes;
    Ints kept;  // the twin's dimensions that stay, in the order of the value's
    for (std::size_t i = 0; i < rank; ++i) (reduced[i] ? axes : kept).push_back(perm[i]);
    std::sort(axes.begin(), axes.end());
    twin->attrs.Set("axes", axes);
    if (n.attrs.Int("keepdims", 1) == 0) {
      Ints sorted = kept;
      std::sort(sorted.begin(), sorted.end());
      out_perm->clear();
      for (const std::int64_t k : kept) {
        out_perm->push_back(std::lower_bound(sorted.begin(), sorted.end(), k) - sorted.begin());
      }
    }
    return true;
  }

  ir::Graph& g_;
  std::map<ValueId, Twin> twins_;
  std::set<ValueId> lazy_;  // values that exist only through their twin so far
  std::map<ValueId, ValueId>
      same_as_;  // results of transposes that turned out to be another value as it is
};

Status Run(ir::Graph& g, const target::Profile&, int* changes) {
  return LayoutWalk(g).Run(changes);
}

}  // namespace
}  // namespace npukit::passes

namespace npukit::pass {
constinit const passes::PassDef choose_layout = {
    .name = "choose_layout",
    .summary = "compute in NHWC, reordering only where it must be",
    .run = passes::Run};
}  // namespace npukit::pass
