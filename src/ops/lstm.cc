#include "ops/recurrent.h"

namespace npukit {
namespace {

using namespace ops;

// Gates: input i, output o, forget f, cell c.

Status Infer(InferContext& c) { return InferRecurrent(c, kLstmCell); }

void Cell(const Recurrent& r, const Attrs& attrs, std::int64_t d, const double* x,
          std::vector<double>& h, std::vector<double>& c) {
  const bool coupled = attrs.Int("input_forget", 0) != 0;
  const std::int64_t n = r.hidden;
  const Activation& f = r.activation(d, 0);
  const Activation& g = r.activation(d, 1);
  const Activation& out = r.activation(d, 2);
  const auto sum = [&](std::int64_t gate, std::int64_t j) {
    const std::int64_t row = gate * n + j;
    return r.Input(d, row, x) + r.Hidden(d, row, h.data()) + r.InputBias(d, row) +
           r.HiddenBias(d, row);
  };
  // Peepholes: of input, output, forget.
  const auto peephole = [&](std::int64_t gate, std::int64_t j) {
    return r.peephole.empty() ? 0.0 : r.peephole[static_cast<std::size_t>((d * 3 + gate) * n + j)];
  };
  std::vector<double> next(h.size());
  for (std::int64_t j = 0; j < n; ++j) {
    double& state = c[static_cast<std::size_t>(j)];
    const double in = f(r.Clip(sum(0, j) + peephole(0, j) * state));
    const double forget = coupled ? 1 - in : f(r.Clip(sum(2, j) + peephole(2, j) * state));
    state = forget * state + in * g(r.Clip(sum(3, j)));
    const double o = f(r.Clip(sum(1, j) + peephole(1, j) * state));
    next[static_cast<std::size_t>(j)] = o * out(state);  // clip is for the gates alone
  }
  h = std::move(next);
}

Status Reference(EvalContext& c) { return EvaluateRecurrent(c, Infer, kLstmCell, Cell); }

constexpr AttrDef kAttrs[] = {NPUKIT_RECURRENT_ATTRS, {"input_forget", AttrKind::kInt}};

}  // namespace

constinit const OpDef op::lstm = {
    .name = "lstm",
    .summary =
        "long short-term memory: c' = f c + i g, h' = o tanh(c'), for each step of each sequence",
    .min_inputs = 3,
    .max_inputs = 8,
    .outputs = 3,
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = RecurrentCost,
    .loop = LoopShape::kOther,
    .layout = LayoutRule::kFixed,
    .foreign = {.onnx = "LSTM", .tflite = "UNIDIRECTIONAL_SEQUENCE_LSTM"},
};

}  // namespace npukit
