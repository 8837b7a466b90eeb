#include "ops/recurrent.h"

namespace npukit {
namespace {

using namespace ops;

// Gates: update z, reset r, hidden h.

Status Infer(InferContext& c) { return InferRecurrent(c, kGruCell); }

void Cell(const Recurrent& r, const Attrs& attrs, std::int64_t d, const double* x,
          std::vector<double>& h, std::vector<double>&) {
  const bool linear_before_reset = attrs.Int("linear_before_reset", 0) != 0;
  const std::int64_t n = r.hidden;
  const auto gate = [&](std::int64_t row) {
    const double sum = r.Input(d, row, x) + r.Hidden(d, row, h.data()) + r.InputBias(d, row) +
                       r.HiddenBias(d, row);
    return r.activation(d, 0)(r.Clip(sum));
  };
  std::vector<double> update(h.size()), reset(h.size()), next(h.size());
  for (std::int64_t j = 0; j < n; ++j) {
    update[static_cast<std::size_t>(j)] = gate(j);
    reset[static_cast<std::size_t>(j)] = gate(n + j);
  }
  std::vector<double> kept = h;  // r * h
  for (std::size_t j = 0; j < h.size(); ++j) kept[j] *= reset[j];
  for (std::int64_t j = 0; j < n; ++j) {
    const auto at = static_cast<std::size_t>(j);
    const std::int64_t row = 2 * n + j;
    double sum = r.Input(d, row, x) + r.InputBias(d, row);
    if (linear_before_reset) {
      sum += reset[at] * (r.Hidden(d, row, h.data()) + r.HiddenBias(d, row));
    } else {
      sum += r.Hidden(d, row, kept.data()) + r.HiddenBias(d, row);
    }
    next[at] = (1 - update[at]) * r.activation(d, 1)(r.Clip(sum)) + update[at] * h[at];
  }
  h = std::move(next);
}

Status Reference(EvalContext& c) { return EvaluateRecurrent(c, Infer, kGruCell, Cell); }

constexpr AttrDef kAttrs[] = {NPUKIT_RECURRENT_ATTRS, {"linear_before_reset", AttrKind::kInt}};

}  // namespace

constinit const OpDef op::gru = {
    .name = "gru",
    .summary = "gated recurrent layer: h' = (1 - z) g + z h, for each step of each sequence",
    .min_inputs = 3,
    .max_inputs = 6,
    .outputs = 2,
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = RecurrentCost,
    .loop = LoopShape::kOther,
    .layout = LayoutRule::kFixed,
    .foreign = {.onnx = "GRU"},
};

}  // namespace npukit
