#include <cmath>

#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Value;

double Shrunk(double x, double lambd, double bias) {
  if (x < -lambd) return x + bias;
  if (x > lambd) return x - bias;
  return x != x ? x : 0;
}

// Integers as numpy has them: the sum as a real number, cut towards zero. By a whole bias they stay
// integers, so that large ones are exact.
Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, InferSameNumber));
  const Value& x = c.inputs[0];
  const double lambd = c.attrs->Float("lambd", 0.5F);
  const double bias = c.attrs->Float("bias", 0);
  const bool floats = IsRealFloat(x.dtype());
  const bool whole = std::trunc(bias) == bias && std::fabs(bias) < 0x1p62;
  const auto step = whole ? static_cast<std::uint64_t>(static_cast<std::int64_t>(bias)) : 0;
  for (std::int64_t i = 0; i < x.count(); ++i) {
    const double v = Load(x, i);
    if (floats) {
      Store(y, i, Shrunk(v, lambd, bias));
    } else if (!(v < -lambd || v > lambd)) {
      StoreBits(y, i, 0);
    } else if (whole) {
      StoreBits(y, i, v < -lambd ? LoadBits(x, i) + step : LoadBits(x, i) - step);
    } else {
      Store(y, i, std::trunc(Shrunk(v, lambd, bias)));
    }
  }
  return OkStatus();
}

constexpr AttrDef kAttrs[] = {{"bias", AttrKind::kFloat}, {"lambd", AttrKind::kFloat}};

}  // namespace

constinit const OpDef op::shrink = {
    .name = "shrink",
    .summary = "x + bias below -lambd, x - bias above lambd, 0 between",
    .attrs = kAttrs,
    .infer = InferSameNumber,
    .reference = Reference,
    .cost = CostPerElement,
    .loop = LoopShape::kUnary,
    .layout = LayoutRule::kAny,
    .foreign = {.onnx = "Shrink"},
};

}  // namespace npukit
