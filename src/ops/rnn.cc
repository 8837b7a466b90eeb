#include "ops/recurrent.h"

namespace npukit {
namespace {

using namespace ops;

Status Infer(InferContext& c) { return InferRecurrent(c, kRnnCell); }

void Cell(const Recurrent& r, const Attrs&, std::int64_t d, const double* x, std::vector<double>& h,
          std::vector<double>&) {
  const std::vector<double> before = h;
  for (std::int64_t j = 0; j < r.hidden; ++j) {
    const double sum =
        r.Input(d, j, x) + r.Hidden(d, j, before.data()) + r.InputBias(d, j) + r.HiddenBias(d, j);
    h[static_cast<std::size_t>(j)] = r.activation(d, 0)(r.Clip(sum));
  }
}

Status Reference(EvalContext& c) { return EvaluateRecurrent(c, Infer, kRnnCell, Cell); }

constexpr AttrDef kAttrs[] = {NPUKIT_RECURRENT_ATTRS};

}  // namespace

constinit const OpDef op::rnn = {
    .name = "rnn",
    .summary = "simple recurrent layer: h' = f(W x + R h + B), for each step of each sequence",
    .min_inputs = 3,
    .max_inputs = 6,
    .outputs = 2,
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = RecurrentCost,
    .loop = LoopShape::kOther,
    .layout = LayoutRule::kFixed,
    .foreign = {.onnx = "RNN", .tflite = "UNIDIRECTIONAL_SEQUENCE_RNN"},
};

}  // namespace npukit
