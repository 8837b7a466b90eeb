// GELU gets its name back where an exporter spells it out:
//   x * 0.5 * (1 + erf(x / sqrt(2)))                            ->  gelu(x)
//   x * 0.5 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))   ->  gelu(x), approximate = "tanh"
// in every order of the factors and in every way to write the polynomial: the factors of a product
// are collected, and what stands inside erf or tanh is worked out as a polynomial of x.
// Agreement: 2e-6 of the largest result (erf and the constants are rounded once instead of several
// times).
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "passes/list.h"
#include "passes/rewrite.h"

namespace npukit::passes {
namespace {

using ir::kNoValue;
using ir::ValueId;

bool Near(double a, double b) {
  return std::abs(a - b) <= 2e-6 * std::max(std::abs(a), std::abs(b));
}

// c[0] + c[1] x + c[2] x^2 + c[3] x^3
using Cubic = std::array<double, 4>;

std::optional<Cubic> Product(const Cubic& a, const Cubic& b) {
  Cubic y{};
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t k = 0; k < 4; ++k) {
      if (a[i] == 0 || b[k] == 0) continue;
      if (i + k > 3) return std::nullopt;
      y[i + k] += a[i] * b[k];
    }
  }
  return y;
}

class GeluFusion {
 public:
  explicit GeluFusion(ir::Graph& g) : g_(g), rw_(g) {}

  Status Run(int* changes) {
    for (std::size_t slot = 0; slot < rw_.slots(); ++slot) {
      if (!rw_.alive(slot) || rw_.node(slot).is_foreign()) continue;
      const auto match = Match(slot);
      if (!match) continue;
      const ir::Node old = rw_.node(slot);
      ops::Attrs attrs;
      if (match->tanh) attrs.Set("approximate", std::string("tanh"));
      NPUKIT_RETURN_IF_ERROR(
          rw_.Replace(slot, NodeLike(old, op::gelu, {match->x}, std::move(attrs))));
      rw_.Absorb(slot, old.inputs);
      ++*changes;
    }
    rw_.Finish();
    return OkStatus();
  }

 private:
  static constexpr int kMaxDepth = 12;

  struct Found {
    ValueId x = kNoValue;
    bool tanh = false;
  };

  const ir::Node* Maker(ValueId id) const {
    const auto slot = rw_.Producer(id);
    return slot && rw_.alive(*slot) ? &rw_.node(*slot) : nullptr;
  }

  // A product as a number times what is no number: mul, and div by a number.
  struct Factors {
    double scale = 1;
    std::vector<ValueId> others;
  };
  void Collect(ValueId id, bool inner, int depth, Factors* f) const {
    if (const auto c = ScalarConstant(g_, id)) {
      f->scale *= *c;
      return;
    }
    const ir::Node* n = Maker(id);
    if (n != nullptr && depth < kMaxDepth && (!inner || rw_.SingleUse(id))) {
      if (n->op == &op::mul) {
        Collect(n->inputs[0], true, depth + 1, f);
        Collect(n->inputs[1], true, depth + 1, f);
        return;
      }
      const auto c = n->op == &op::div ? ScalarConstant(g_, n->inputs[1]) : std::nullopt;
      if (c && *c != 0) {
        f->scale /= *c;
        Collect(n->inputs[0], true, depth + 1, f);
        return;
      }
    }
    f->others.push_back(id);
  }

  // What `id` is as a polynomial of x; nullopt when it is none up to the third power.
  std::optional<Cubic> PolynomialOf(ValueId id, ValueId x, int depth) const {
    if (id == x) return Cubic{0, 1, 0, 0};
    if (const auto c = ScalarConstant(g_, id)) return Cubic{*c, 0, 0, 0};
    const ir::Node* n = Maker(id);
    if (n == nullptr || depth == kMaxDepth || n->is_foreign() || n->inputs.size() != 2 ||
        !n->epilogue.empty()) {
      return std::nullopt;
    }
    const bool sum = n->op == &op::add || n->op == &op::sub;
    if (!sum && n->op != &op::mul && n->op != &op::div && n->op != &op::pow) return std::nullopt;
    const auto a = PolynomialOf(n->inputs[0], x, depth + 1);
    const auto b = a ? PolynomialOf(n->inputs[1], x, depth + 1) : std::nullopt;
    if (!b) return std::nullopt;
    if (sum) {
      Cubic y{};
      for (std::size_t i = 0; i < 4; ++i) y[i] = (*a)[i] + (n->op == &op::add ? 1 : -1) * (*b)[i];
      return y;
    }
    if (n->op == &op::mul) return Product(*a, *b);
    const double c = (*b)[0];
    if (*b != Cubic{c, 0, 0, 0}) return std::nullopt;
    if (n->op == &op::div) return c == 0 ? std::nullopt : Product(*a, {1 / c, 0, 0, 0});
    if (c != 2 && c != 3) return std::nullopt;
    auto y = Product(*a, *a);
    return y && c == 3 ? Product(*y, *a) : y;
  }

  // `gate` is c * (1 + erf(k x)) or its tanh form; `c` comes back.
  std::optional<Found> MatchGate(ValueId gate, ValueId x, double* c) const {
    const ir::Node* n = Maker(gate);
    if (n == nullptr || n->op != &op::add) return std::nullopt;
    const auto m = MatchWithConstant(g_, *n);
    const auto shift = m ? ScalarConstant(g_, m->constant) : std::nullopt;
    if (!shift) return std::nullopt;
    Factors f;
    Collect(m->x, false, 0, &f);
    if (f.others.size() != 1 || !Near(f.scale, *shift)) return std::nullopt;
    const ir::Node* curve = Maker(f.others[0]);
    if (curve == nullptr || (curve->op != &op::erf && curve->op != &op::tanh)) return std::nullopt;
    const auto inside = PolynomialOf(curve->inputs[0], x, 0);
    if (!inside) return std::nullopt;
    const bool tanh = curve->op == &op::tanh;
    const double k = tanh ? std::sqrt(2 / std::numbers::pi) : 1 / std::numbers::sqrt2;
    const bool same = (*inside)[0] == 0 && (*inside)[2] == 0 && Near((*inside)[1], k) &&
                      (tanh ? Near((*inside)[3], k * 0.044715) : (*inside)[3] == 0);
    if (!same) return std::nullopt;
    *c = *shift;
    return Found{x, tanh};
  }

  std::optional<Found> Match(std::size_t slot) const {
    const ir::Node& n = rw_.node(slot);
    if ((n.op != &op::mul && n.op != &op::div) || n.outputs.size() != 1) return std::nullopt;
    Factors f;
    Collect(n.outputs[0], false, 0, &f);
    if (f.others.size() != 2) return std::nullopt;
    for (const std::size_t side : {0u, 1u}) {
      double c = 0;
      const auto found = MatchGate(f.others[side], f.others[1 - side], &c);
      if (!found || !Near(f.scale * c, 0.5)) continue;
      // A constant of higher rank would have changed the shape on the way.
      const tensor::Type& from = g_.value(found->x).type;
      const tensor::Type& to = g_.value(n.outputs[0]).type;
      if (from.dtype != to.dtype || !from.shape || !to.shape ||
          from.shape->rank() != to.shape->rank()) {
        continue;
      }
      return found;
    }
    return std::nullopt;
  }

  ir::Graph& g_;
  Rewriter rw_;
};

Status Run(ir::Graph& g, const target::Profile&, int* changes) {
  return GeluFusion(g).Run(changes);
}

}  // namespace
}  // namespace npukit::passes

namespace npukit::pass {
constinit const passes::PassDef fuse_gelu = {
    .name = "fuse_gelu",
    .summary = "name gelu where it is spelled out, by erf or by tanh",
    .run = passes::Run};
}  // namespace npukit::pass
