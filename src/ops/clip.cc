#include <cmath>
#include <limits>

#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;

constexpr float kInf = std::numeric_limits<float>::infinity();

// Where min > max the result is max, as ONNX says.
double Apply(double x, const Attrs& attrs) {
  const double lo = attrs.Float("min", -kInf);
  const double hi = attrs.Float("max", kInf);
  const double raised = x < lo ? lo : x;  // NaN stays NaN
  return raised > hi ? hi : raised;
}

Status Infer(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(InferSameNumber(c));
  if (std::isnan(c.attrs.Float("min", -kInf)) || std::isnan(c.attrs.Float("max", kInf))) {
    return InvalidArgument("a limit is NaN");
  }
  return OkStatus();
}

// Integers stay what they are between the limits, even those that double cannot hold.
Status ClipIntegers(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(tensor::Value y, MakeOutput(c, Infer));
  const tensor::Value& x = c.inputs[0];
  for (std::int64_t i = 0; i < x.count(); ++i) {
    const double v = Load(x, i);
    const double clipped = Apply(v, *c.attrs);
    if (clipped == v) {
      CopyElement(y, i, x, i);
    } else {
      Store(y, i, clipped);
    }
  }
  return OkStatus();
}

Status Reference(EvalContext& c) {
  if (tensor::IsInteger(c.inputs[0].dtype())) return ClipIntegers(c);
  return EvaluateUnary(c, Infer, Apply);
}

constexpr AttrDef kAttrs[] = {{"min", AttrKind::kFloat}, {"max", AttrKind::kFloat}};

}  // namespace

constinit const OpDef op::clip = {
    .name = "clip",
    .summary = "min(max(x, min), max)",
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = CostPerElement,
    .loop = LoopShape::kUnary,
    .layout = LayoutRule::kAny,
    .foreign = {.onnx = "Clip", .nnrt = "OH_NN_OPS_CLIP"},
};

}  // namespace npukit
