#include <cmath>

#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;

double Apply(double x, const Attrs& attrs) {
  return x < 0 ? static_cast<double>(attrs.Float("alpha", 1)) * std::expm1(x) : x;
}

Status Reference(EvalContext& c) { return EvaluateUnary(c, InferSameFloat, Apply); }

constexpr AttrDef kAttrs[] = {{"alpha", AttrKind::kFloat}};

}  // namespace

constinit const OpDef op::elu = {
    .name = "elu",
    .summary = "x where x >= 0, alpha * (exp(x) - 1) elsewhere",
    .attrs = kAttrs,
    .infer = InferSameFloat,
    .reference = Reference,
    .cost = CostPerElement10,
    .loop = LoopShape::kUnary,
    .layout = LayoutRule::kAny,
    .foreign = {.onnx = "Elu", .tflite = "ELU"},
};

}  // namespace npukit
