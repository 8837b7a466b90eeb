#include <cmath>

#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;

// Written so that neither a large nor a small x loses its digits.
double Apply(double x, const Attrs&) {
  return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
}

Status Reference(EvalContext& c) { return EvaluateUnary(c, InferSameFloat, Apply); }

}  // namespace

constinit const OpDef op::softplus = {
    .name = "softplus",
    .summary = "log(1 + exp(x))",
    .infer = InferSameFloat,
    .reference = Reference,
    .cost = CostPerElement10,
    .loop = LoopShape::kUnary,
    .layout = LayoutRule::kAny,
    .foreign = {.onnx = "Softplus"},
};

}  // namespace npukit
