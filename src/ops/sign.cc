#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;

double Apply(double x, const Attrs&) { return x > 0 ? 1 : x < 0 ? -1 : x; }  // NaN stays NaN

std::uint64_t ApplyInt(std::uint64_t x, bool is_signed) {
  if (is_signed && (x >> 63) != 0) return ~std::uint64_t{0};
  return x != 0;
}

Status Reference(EvalContext& c) { return EvaluateUnaryNumber(c, Apply, ApplyInt); }

}  // namespace

constinit const OpDef op::sign = {
    .name = "sign",
    .summary = "-1, 0 or 1",
    .infer = InferSameNumber,
    .reference = Reference,
    .cost = CostPerElement,
    .loop = LoopShape::kUnary,
    .layout = LayoutRule::kAny,
    .foreign = {.onnx = "Sign", .tflite = "SIGN"},
};

}  // namespace npukit
