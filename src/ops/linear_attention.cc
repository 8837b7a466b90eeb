#include <cmath>
#include <vector>

#include "base/text.h"
#include "ops/given.h"
#include "ops/outputs.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Dim;
using tensor::Shape;
using tensor::Type;
using tensor::Value;

constexpr std::size_t kPast = 3, kDecay = 4, kBeta = 5;

struct Rule {
  bool gated = false;  // the state decays
  bool delta = false;  // only what the state does not yet say is written
};

Result<Rule> ReadRule(const Attrs& attrs) {
  const std::string_view rule = attrs.String("update_rule", "gated_delta");
  if (rule == "linear") return Rule{};
  if (rule == "gated") return Rule{true, false};
  if (rule == "delta") return Rule{false, true};
  if (rule == "gated_delta") return Rule{true, true};
  return InvalidArgument(
      Cat("update_rule is ", Printable(rule), ", expected linear, gated, delta or gated_delta"));
}

// [batch, length, heads * width]: the width.
Result<Dim> WidthOf(const InferContext& c, std::size_t input, std::int64_t heads) {
  const Type& t = c.inputs[input];
  if (!t.shape) return Dim{};
  if (t.shape->rank() != 3)
    return InvalidArgument(Cat("input ", input, " is ", t.ToString(), ", expected rank 3"));
  const Dim& last = t.shape->dims[2];
  if (!last.known()) return Dim{};
  if (last.value % heads != 0) {
    return InvalidArgument(Cat("input ", input, " is ", t.ToString(),
                               ", which does not split into ", heads, " heads"));
  }
  return Dim::Of(last.value / heads);
}

// Decay and update rate: [batch, length, n] with one of two n.
Status CheckGate(const InferContext& c, std::size_t input, bool wanted, const char* name,
                 std::int64_t heads, const Dim& other) {
  if (wanted ? !MayBeGiven(c, input) : Has(c, input)) {
    return InvalidArgument(Cat("update_rule ", wanted ? "needs" : "does not take", " the input ",
                               name, ", found ", wanted ? "none" : "one"));
  }
  if (!wanted || !c.inputs[input].shape) return OkStatus();
  const Type& t = c.inputs[input];
  bool fits = t.shape->rank() == 3;
  for (std::size_t i = 0; fits && c.inputs[0].shape && i < 2; ++i)
    fits = SameDim(t.shape->dims[i], c.inputs[0].shape->dims[i]).ok();
  if (fits && t.shape->dims[2].known()) {
    const std::int64_t n = t.shape->dims[2].value;
    fits = n == heads || !other.known() || n == other.value;
  }
  if (fits) return OkStatus();
  return InvalidArgument(Cat(name, " is ", t.ToString(), ", expected [batch, length, ", heads,
                             other.known() ? Cat(" or ", other.value) : "", "]"));
}

// Results: the output [batch, length, q heads * value width], the state after the last step.
Status Infer(InferContext& c) {
  for (const std::size_t i : {0, 1, 2}) NPUKIT_RETURN_IF_ERROR(WantFloat(c, i));
  NPUKIT_RETURN_IF_ERROR(WantSameDType(c, 0, 1));
  NPUKIT_RETURN_IF_ERROR(WantSameDType(c, 0, 2));
  NPUKIT_ASSIGN_OR_RETURN(const Rule rule, ReadRule(c.attrs));
  const std::int64_t q_heads = c.attrs.Int("q_num_heads"), heads = c.attrs.Int("kv_num_heads");
  if (heads < 1 || q_heads < 1 || q_heads % heads != 0) {
    return InvalidArgument(Cat("q_num_heads is ", q_heads,
                               ", expected a multiple of kv_num_heads, ", heads, ", above 0"));
  }
  NPUKIT_ASSIGN_OR_RETURN(const Dim q_width, WidthOf(c, 0, q_heads));
  NPUKIT_ASSIGN_OR_RETURN(Dim k_width, WidthOf(c, 1, heads));
  NPUKIT_ASSIGN_OR_RETURN(const Dim v_width, WidthOf(c, 2, heads));
  auto same = SameDim(q_width, k_width);
  if (!same.ok()) return same.status().WithContext("head sizes of query and key");
  k_width = *same;
  Dim batch, length;
  for (const std::size_t i : {0, 1, 2}) {
    if (!c.inputs[i].shape) continue;
    NPUKIT_ASSIGN_OR_RETURN(batch, SameDim(batch, c.inputs[i].shape->dims[0]));
    NPUKIT_ASSIGN_OR_RETURN(length, SameDim(length, c.inputs[i].shape->dims[1]));
  }
  std::int64_t wide = 0;
  const bool fits = k_width.known() && !__builtin_mul_overflow(k_width.value, heads, &wide);
  NPUKIT_RETURN_IF_ERROR(
      CheckGate(c, kDecay, rule.gated, "decay", heads, fits ? Dim::Of(wide) : Dim{}));
  NPUKIT_RETURN_IF_ERROR(CheckGate(c, kBeta, rule.delta, "beta", heads, Dim::Of(1)));
  const Shape state({batch, Dim::Of(heads), k_width, v_width});
  if (Has(c, kPast)) {
    NPUKIT_RETURN_IF_ERROR(WantFloat(c, kPast));
    const auto& past = c.inputs[kPast].shape;
    bool agrees = !past || past->rank() == 4;
    for (std::size_t i = 0; past && agrees && i < 4; ++i)
      agrees = SameDim(past->dims[i], state.dims[i]).ok();
    if (!agrees) {
      return InvalidArgument(
          Cat("the past state is ", c.inputs[kPast].ToString(), ", expected ", state.ToString()));
    }
  }
  Dim out;
  if (v_width.known()) {
    std::int64_t n = 0;
    if (__builtin_mul_overflow(v_width.value, q_heads, &n))
      return InvalidArgument("the size of the result overflows");
    out = Dim::Of(n);
  }
  c.outputs[0] = Type::Tensor(c.inputs[0].dtype, Shape({batch, length, out}));
  c.outputs[1] = Type::Tensor(c.inputs[IsGiven(c, kPast) ? kPast : 0].dtype, state);
  return OkStatus();
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(std::vector<Value> out, MakeOutputs(c, Infer, 2));
  if (out[0].count() == 0 && out[1].count() == 0) return OkStatus();
  const Value &q = c.inputs[0], &k = c.inputs[1], &v = c.inputs[2];
  const auto optional = [&](std::size_t i) { return i < c.inputs.size() ? c.inputs[i] : Value(); };
  const Value past = optional(kPast), decay = optional(kDecay), beta = optional(kBeta);
  const std::int64_t batch = q.dims()[0], length = q.dims()[1];
  const std::int64_t q_heads = c.attrs->Int("q_num_heads"), heads = out[1].dims()[1];
  const std::int64_t dk = out[1].dims()[2], dv = out[1].dims()[3];
  const float given = c.attrs->Float("scale", 0);
  const double scale = given != 0 ? given : 1 / std::sqrt(static_cast<double>(dk));
  const std::int64_t decays = decay.present() ? decay.dims()[2] : 0;
  const std::int64_t betas = beta.present() ? beta.dims()[2] : 0;
  std::vector<double> s(static_cast<std::size_t>(dk * dv)), write(static_cast<std::size_t>(dv));
  const auto at = [&](std::int64_t d, std::int64_t m) -> double& {
    return s[static_cast<std::size_t>(d * dv + m)];
  };
  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t h = 0; h < heads; ++h) {
      const std::int64_t first = (b * heads + h) * dk * dv;
      for (std::int64_t i = 0; i < dk * dv; ++i)
        s[static_cast<std::size_t>(i)] = past.present() ? Load(past, first + i) : 0;
      for (std::int64_t t = 0; t < length; ++t) {
        const std::int64_t step = b * length + t;
        const std::int64_t key = (step * heads + h) * dk, value = (step * heads + h) * dv;
        for (std::int64_t d = 0; decay.present() && d < dk; ++d) {
          const std::int64_t which = decays == heads ? h : h * dk + d;
          const double keep = std::exp(Load(decay, step * decays + which));
          for (std::int64_t m = 0; m < dv; ++m) at(d, m) *= keep;
        }
        for (std::int64_t m = 0; m < dv; ++m) {
          double x = Load(v, value + m);
          if (beta.present()) {
            for (std::int64_t d = 0; d < dk; ++d) x -= at(d, m) * Load(k, key + d);
            x *= Load(beta, step * betas + (betas == 1 ? 0 : h));
          }
          write[static_cast<std::size_t>(m)] = x;
        }
        for (std::int64_t d = 0; d < dk; ++d) {
          for (std::int64_t m = 0; m < dv; ++m)
            at(d, m) += Load(k, key + d) * write[static_cast<std::size_t>(m)];
        }
        const std::int64_t group = q_heads / heads;
        for (std::int64_t g = h * group; g < (h + 1) * group; ++g) {
          for (std::int64_t m = 0; m < dv; ++m) {
            double sum = 0;
            for (std::int64_t d = 0; d < dk; ++d)
              sum += Load(q, (step * q_heads + g) * dk + d) * at(d, m);
            Store(out[0], (step * q_heads + g) * dv + m, scale * sum);
          }
        }
      }
      for (std::int64_t i = 0; i < dk * dv; ++i)
        Store(out[1], first + i, s[static_cast<std::size_t>(i)]);
    }
  }
  return OkStatus();
}

constexpr AttrDef kAttrs[] = {{"chunk_size", AttrKind::kInt},
                              {"kv_num_heads", AttrKind::kInt, true},
                              {"q_num_heads", AttrKind::kInt, true},
                              {"scale", AttrKind::kFloat},
                              {"update_rule", AttrKind::kString}};

OpCost LinearAttentionCost(const CostContext& c) {
  OpCost cost{.bytes = AllBytes(c)};
  if (c.outputs[1].is_static())
    cost.macs = 3 * CountOf(c.outputs[0]) * static_cast<double>(c.outputs[1].dims()[2]);
  return cost;
}

}  // namespace

constinit const OpDef op::linear_attention = {
    .name = "linear_attention",
    .summary = "attention as a recurrence over a state that every step decays, writes and reads",
    .min_inputs = 3,
    .max_inputs = 6,
    .outputs = 2,
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = LinearAttentionCost,
    .foreign = {.onnx = "LinearAttention"},
};

}  // namespace npukit
