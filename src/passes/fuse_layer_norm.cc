// Layer normalisation gets its name back where an exporter spells it out:
//   d = x - mean(x);  d / sqrt(mean(d * d) + epsilon) [* scale] [+ bias]
//   ->  layer_normalization(x, scale, bias)
// where the means are over the last dimensions. d may be written twice, its square as pow(d, 2),
// and the division as a product with 1 / sqrt. Agreement: 2e-5 of the largest result (one sum in
// double instead of roundings in between).
#include <algorithm>
#include <vector>

#include "passes/list.h"
#include "passes/rewrite.h"

namespace npukit::passes {
namespace {

using ir::kNoValue;
using ir::ValueId;

class LayerNormFusion {
 public:
  explicit LayerNormFusion(ir::Graph& g) : g_(g), rw_(g) {}

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
  struct Core {
    ValueId x = kNoValue;
    std::size_t axis = 0;
    float epsilon = 0;
  };

  const ir::Node* Maker(ValueId id, const ops::OpDef& op) const { return rw_.ProducerNode(id, op); }

  // The mean over the dimensions from *axis on, kept as 1: what it is of.
  std::optional<ValueId> MatchMean(ValueId id, std::size_t* axis) const {
    const ir::Node* n = Maker(id, op::reduce_mean);
    if (n == nullptr || n->attrs.Int("keepdims", 1) == 0) return std::nullopt;
    const tensor::Type& x = g_.value(n->inputs[0]).type;
    if (!x.is_tensor() || !x.shape || x.shape->rank() == 0) return std::nullopt;
    const auto rank = static_cast<std::int64_t>(x.shape->rank());
    ops::Ints axes = n->attrs.IntList("axes");
    if (axes.empty() || axes.size() > static_cast<std::size_t>(rank)) return std::nullopt;
    for (std::int64_t& a : axes) a = a < 0 ? a + rank : a;
    std::sort(axes.begin(), axes.end());
    const std::int64_t first = rank - static_cast<std::int64_t>(axes.size());
    for (std::size_t i = 0; i < axes.size(); ++i) {
      if (axes[i] != first + static_cast<std::int64_t>(i)) return std::nullopt;
    }
    *axis = static_cast<std::size_t>(first);
    return n->inputs[0];
  }

  // x - mean(x): x.
  std::optional<ValueId> MatchCentred(ValueId id, std::size_t* axis) const {
    const ir::Node* n = Maker(id, op::sub);
    if (n == nullptr) return std::nullopt;
    const auto of = MatchMean(n->inputs[1], axis);
    return of && *of == n->inputs[0] ? of : std::nullopt;
  }

  // d * d, or pow(d, 2): d.
  std::optional<ValueId> MatchSquare(ValueId id) const {
    const ir::Node* n = Maker(id, op::mul);
    if (n != nullptr && n->inputs[0] == n->inputs[1]) return n->inputs[0];
    n = Maker(id, op::pow);
    if (n == nullptr) return std::nullopt;
    const auto exponent = ScalarConstant(g_, n->inputs[1]);
    return exponent && *exponent == 2 ? std::optional(n->inputs[0]) : std::nullopt;
  }

  // sqrt(mean(square of x - mean(x)) + epsilon)
  std::optional<Core> MatchDeviation(ValueId id) const {
    const ir::Node* root = Maker(id, op::sqrt);
    const ir::Node* sum = root ? Maker(root->inputs[0], op::add) : nullptr;
    const auto m = sum ? MatchWithConstant(g_, *sum) : std::nullopt;
    const auto epsilon = m ? ScalarConstant(g_, m->constant) : std::nullopt;
    Core core;
    if (!epsilon || !(*epsilon >= 0)) return std::nullopt;
    const auto squares = MatchMean(m->x, &core.axis);
    const auto centred = squares ? MatchSquare(*squares) : std::nullopt;
    std::size_t axis = 0;
    const auto x = centred ? MatchCentred(*centred, &axis) : std::nullopt;
    if (!x || axis != core.axis) return std::nullopt;
    core.x = *x;
    core.epsilon = *epsilon;
    return core;
  }

  // The node in `slot` divides x - mean(x) by its deviation.
  std::optional<Core> MatchCore(const ir::Node& n) const {
    ValueId centred = kNoValue;
    std::optional<Core> core;
    if (n.op == &op::div) {
      centred = n.inputs[0];
      core = MatchDeviation(n.inputs[1]);
    } else if (n.op == &op::mul) {
      for (const std::size_t side : {0u, 1u}) {
        const ir::Node* inverse = Maker(n.inputs[side], op::reciprocal);
        const ir::Node* quotient = Maker(n.inputs[side], op::div);
        if (inverse != nullptr) {
          core = MatchDeviation(inverse->inputs[0]);
        } else if (quotient != nullptr && ScalarConstant(g_, quotient->inputs[0]) == 1.0f) {
          core = MatchDeviation(quotient->inputs[1]);
        }
        centred = n.inputs[1 - side];
        if (core) break;
      }
    }
    if (!core) return std::nullopt;
    std::size_t axis = 0;
    const auto x = MatchCentred(centred, &axis);
    const tensor::Type& type = g_.value(core->x).type;
    if (!x || *x != core->x || axis != core->axis || type.dtype != tensor::DType::kF32)
      return std::nullopt;
    for (std::size_t d = axis; d < type.shape->rank(); ++d) {
      if (!type.shape->dims[d].known()) return std::nullopt;
    }
    return core;
  }

  // What the readers of a normalised value multiply by or add, when it has the shape of the
  // normalised dimensions (1s in front do not matter).
  ValueId Parameter(const ir::Node& n, ValueId normalised, const tensor::Dims& shape) {
    const auto m = MatchWithConstant(g_, n);
    if (!m || m->x != normalised) return kNoValue;
    const tensor::Value& v = *g_.constant(m->constant);
    if (!v.is_tensor() || v.dtype() != tensor::DType::kF32) return kNoValue;
    tensor::Dims dims = v.dims();
    while (dims.size() > shape.size() && dims[0] == 1) dims.erase(dims.begin());
    if (dims != shape) return kNoValue;
    return dims == v.dims() ? m->constant
                            : g_.AddConstant(NameOf(g_, m->constant, ""), v.Reshaped(shape));
  }

  Result<bool> Fuse(std::size_t slot) {
    const auto core = MatchCore(rw_.node(slot));
    if (!core) return false;
    tensor::Dims shape;
    const tensor::Shape x = *g_.value(core->x).type.shape;  // a copy: constants are added below
    for (std::size_t d = core->axis; d < x.rank(); ++d) shape.push_back(x.dims[d].value);
    if (tensor::ElementCount(shape).value_or(0) == 0) return false;

    // Behind it, each where nobody else reads what is before: a scale, then a bias.
    std::size_t last = slot;
    ValueId parameters[2] = {kNoValue, kNoValue};
    for (const std::size_t k : {0u, 1u}) {
      const auto reader = rw_.OnlyReader(rw_.node(last).outputs[0]);
      if (!reader) break;
      const ir::Node& n = rw_.node(*reader);
      if (n.op != (k == 0 ? &op::mul : &op::add)) continue;
      if (n.inputs.size() != 2 ||
          g_.value(n.outputs[0]).type.shape != g_.value(rw_.node(last).outputs[0]).type.shape) {
        continue;
      }
      parameters[k] = Parameter(n, rw_.node(last).outputs[0], shape);
      if (parameters[k] != kNoValue) last = *reader;
    }
    if (parameters[0] == kNoValue) {
      NPUKIT_ASSIGN_OR_RETURN(tensor::Value ones,
                              tensor::Value::Allocate(tensor::DType::kF32, shape));
      for (float& f : ones.as_mutable<float>()) f = 1;
      parameters[0] = g_.AddConstant(NameOf(g_, core->x, "_ones"), std::move(ones));
    }
    const ir::Node old = rw_.node(last);
    std::vector<ValueId> inputs{core->x, parameters[0]};
    if (parameters[1] != kNoValue) inputs.push_back(parameters[1]);
    ops::Attrs attrs;
    attrs.Set("axis", static_cast<std::int64_t>(core->axis) - static_cast<std::int64_t>(x.rank()));
    attrs.Set("epsilon", core->epsilon);
    NPUKIT_RETURN_IF_ERROR(rw_.Replace(
        last, NodeLike(old, op::layer_normalization, std::move(inputs), std::move(attrs))));
    rw_.Absorb(last, old.inputs);
    return true;
  }

  ir::Graph& g_;
  Rewriter rw_;
};

Status Run(ir::Graph& g, const target::Profile&, int* changes) {
  return LayerNormFusion(g).Run(changes);
}

}  // namespace
}  // namespace npukit::passes

namespace npukit::pass {
constinit const passes::PassDef fuse_layer_norm = {
    .name = "fuse_layer_norm",
    .summary = "name layer_normalization where it is spelled out",
    .run = passes::Run};
}  // namespace npukit::pass
