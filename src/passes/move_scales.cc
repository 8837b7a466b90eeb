// Attention is written with a factor on what its matmuls multiply. It goes where it costs nothing:
//   matmul(transpose(reshape(linear(x))) * s, ...)  ->  s stands behind the linear layer, into
//   whose
//                                                       weights fuse_batch_norm takes it
//   matmul(a * s, transpose(b * t))                 ->  matmul(a, transpose(b)) times s t, in its
//                                                       epilogue or in a factor that was there
// Transposes and reshapes on the way do not mind. Agreement: 1e-5 of the largest result (the factor
// is rounded once, and sums are scaled in place of their terms).
#include <vector>

#include "passes/list.h"
#include "passes/rewrite.h"

namespace npukit::passes {
namespace {

using ir::kNoValue;
using ir::ValueId;

class ScaleMover {
 public:
  explicit ScaleMover(ir::Graph& g) : g_(g), rw_(g) {}

  Status Run(int* changes) {
    for (std::size_t slot = 0; slot < rw_.slots(); ++slot) {
      if (!rw_.alive(slot) || rw_.node(slot).op != &op::matmul) continue;
      for (bool moved = true; moved;) {
        NPUKIT_ASSIGN_OR_RETURN(moved, MoveOne(slot));
        *changes += moved ? 1 : 0;
      }
    }
    rw_.Finish();
    return OkStatus();
  }

 private:
  struct Factor {
    std::size_t slot = 0;
    ValueId x = kNoValue;
    ValueId constant = kNoValue;
    double by = 1;
  };

  static bool IsMovement(const ir::Node& n) {
    return n.op == &op::transpose || n.op == &op::reshape || n.op == &op::squeeze ||
           n.op == &op::unsqueeze || n.op == &op::identity;
  }

  // The node as x times one number that changes neither shape nor type.
  std::optional<Factor> MatchFactor(std::size_t slot) const {
    const ir::Node& n = rw_.node(slot);
    const auto m = n.op == &op::mul || n.op == &op::div ? MatchWithConstant(g_, n) : std::nullopt;
    if (!m) return std::nullopt;
    const auto c = ScalarConstant(g_, m->constant);
    if (!c || !SameStaticShape(g_.value(m->x).type, g_.value(n.outputs[0]).type))
      return std::nullopt;
    if (n.op == &op::mul) return Factor{slot, m->x, m->constant, *c};
    if (m->constant_first || *c == 0) return std::nullopt;
    return Factor{slot, m->x, m->constant, 1.0 / static_cast<double>(*c)};
  }

  // The factor on the way to `id`, behind movements that nobody else reads.
  std::optional<Factor> FactorBefore(ValueId id) const {
    for (;;) {
      const auto slot = rw_.Producer(id);
      if (!slot || !rw_.SingleUse(id)) return std::nullopt;
      if (const auto f = MatchFactor(*slot)) return f;
      if (!IsMovement(rw_.node(*slot))) return std::nullopt;
      id = rw_.node(*slot).inputs[0];
    }
  }

  // A matmul or convolution with constant weights, alone or with a constant added: fuse_batch_norm
  // will take the factor in.
  bool TakesFactor(ValueId id) const {
    const auto slot = rw_.Producer(id);
    if (!slot || !rw_.SingleUse(id)) return false;
    const ir::Node& n = rw_.node(*slot);
    if (n.op == &op::add) {
      const auto m = MatchWithConstant(g_, n);
      return m && m->x != id && TakesFactor(m->x);
    }
    const bool linear = n.op == &op::matmul || n.op == &op::conv2d;
    return linear && n.epilogue.empty() && g_.is_constant(n.inputs[1]);
  }

  // Climbs from the factor over movements to a linear layer and puts the factor right behind it:
  // the movement there and the factor change places. How many it passed; -1 where it cannot.
  Result<int> Climb(Factor f) {
    ValueId at = f.x;
    int movements = 0;
    while (!TakesFactor(at)) {
      const auto slot = rw_.Producer(at);
      if (!slot || !rw_.SingleUse(at) || !IsMovement(rw_.node(*slot))) return -1;
      at = rw_.node(*slot).inputs[0];
      ++movements;
    }
    if (g_.constant(f.constant)->dims().size() > g_.value(at).type.shape->rank()) return -1;
    for (int i = 0; i < movements; ++i) {
      const std::size_t below = *rw_.Producer(f.x);
      const ir::Node movement = rw_.node(below);
      const ir::Node factor = rw_.node(f.slot);
      const ValueId middle = g_.AddValue(NameOf(g_, f.x, "_scaled"), {});
      ir::Node scale = factor;
      for (ValueId& id : scale.inputs) id = id == f.x ? movement.inputs[0] : id;
      scale.outputs = {middle};
      ir::Node moved = movement;
      moved.inputs[0] = middle;
      moved.outputs = factor.outputs;
      NPUKIT_RETURN_IF_ERROR(rw_.Replace(below, std::move(scale)));
      NPUKIT_RETURN_IF_ERROR(rw_.Replace(f.slot, std::move(moved)));
      f = {below, movement.inputs[0], f.constant, f.by};
    }
    return movements;
  }

  Result<bool> MoveOne(std::size_t slot) {
    const ir::Node product = rw_.node(slot);
    if (product.inputs[0] == product.inputs[1]) return false;
    for (const std::size_t i : {0u, 1u}) {
      const auto f = FactorBefore(product.inputs[i]);
      if (!f) continue;
      NPUKIT_ASSIGN_OR_RETURN(const int climbed, Climb(*f));
      if (climbed > 0) return true;
      if (climbed == 0) continue;  // it is behind a linear layer already
      NPUKIT_ASSIGN_OR_RETURN(const bool moved, PutBehind(slot, *f));
      if (moved) return true;
    }
    return false;
  }

  // The product's result takes the factor. A matmul with constant weights is left to
  // fuse_batch_norm, which takes it into the weights.
  Result<bool> PutBehind(std::size_t slot, const Factor& f) {
    const ir::Node product = rw_.node(slot);
    const ValueId out = product.outputs[0];
    const bool biased = product.inputs.size() > 2 && product.inputs[2] != kNoValue;
    if (biased || g_.is_constant(product.inputs[1]) || g_.is_constant(product.inputs[0]) ||
        !g_.value(out).type.is_static() || g_.value(out).type.dtype != tensor::DType::kF32) {
      return false;
    }
    const auto reader = rw_.OnlyReader(out);
    const auto behind = product.epilogue.empty() && reader ? MatchFactor(*reader) : std::nullopt;
    const bool before = product.epilogue.size() == 1 && product.epilogue[0].op == &op::mul &&
                        ScalarConstant(g_, product.inputs.back());
    if (!product.epilogue.empty() && !before) return false;
    const ir::Node factor = rw_.node(f.slot);
    if (!rw_.Bypass(f.slot, f.x)) return false;
    double by = f.by;
    if (behind) by *= behind->by;
    if (before) by *= static_cast<double>(*ScalarConstant(g_, product.inputs.back()));
    const ValueId k =
        g_.AddConstant(NameOf(g_, out, "_scale"), tensor::Value::Scalar(static_cast<float>(by)));
    if (behind) {
      ir::Node scale = NodeLike(rw_.node(*reader), op::mul, {out, k});
      MergeFrom(scale, factor);
      NPUKIT_RETURN_IF_ERROR(rw_.Replace(*reader, std::move(scale)));
      return true;
    }
    ir::Node scaled = rw_.node(slot);  // reads past the factor now
    scaled.inputs.resize(3, kNoValue);
    scaled.inputs.push_back(k);
    scaled.epilogue = {ops::EpilogueStep{&op::mul, {}, 3, false}};
    MergeFrom(scaled, factor);
    NPUKIT_RETURN_IF_ERROR(rw_.Replace(slot, std::move(scaled)));
    return true;
  }

  ir::Graph& g_;
  Rewriter rw_;
};

Status Run(ir::Graph& g, const target::Profile&, int* changes) {
  return ScaleMover(g).Run(changes);
}

}  // namespace
}  // namespace npukit::passes

namespace npukit::pass {
constinit const passes::PassDef move_scales = {
    .name = "move_scales",
    .summary = "move factors of attention into weights, or behind its matmul",
    .run = passes::Run};
}  // namespace npukit::pass
