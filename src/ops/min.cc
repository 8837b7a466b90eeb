#include <cmath>

#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;

double Apply(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return a + b;  // NaN wins, as in numpy
  return a < b ? a : b;
}

bool ApplyInt(std::uint64_t a, std::uint64_t b, bool is_signed, std::uint64_t* y) {
  const bool first =
      is_signed ? static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b) : a < b;
  *y = first ? a : b;
  return true;
}

Status Reference(EvalContext& c) { return EvaluateBinary(c, Apply, ApplyInt); }

}  // namespace

constinit const OpDef op::min = {
    .name = "min",
    .summary = "the smaller of a and b with numpy broadcasting; NaN wins",
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = InferBroadcast,
    .reference = Reference,
    .cost = CostPerElement,
    .loop = LoopShape::kBinary,
    .layout = LayoutRule::kBroadcast,
    .foreign = {.onnx = "Min", .tflite = "MINIMUM", .nnrt = "OH_NN_OPS_MINIMUM"},
};

}  // namespace npukit
