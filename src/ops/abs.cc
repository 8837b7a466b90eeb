#include <cmath>

#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;

double Apply(double x, const Attrs&) { return std::fabs(x); }

std::uint64_t ApplyInt(std::uint64_t x, bool is_signed) {
  return is_signed && (x >> 63) != 0 ? 0 - x : x;
}

Status Reference(EvalContext& c) { return EvaluateUnaryNumber(c, Apply, ApplyInt); }

}  // namespace

constinit const OpDef op::abs = {
    .name = "abs",
    .summary = "x without its sign; the lowest integer wraps to itself",
    .infer = InferSameNumber,
    .reference = Reference,
    .cost = CostPerElement,
    .loop = LoopShape::kUnary,
    .layout = LayoutRule::kAny,
    .foreign = {.onnx = "Abs", .tflite = "ABS", .nnrt = "OH_NN_OPS_ABS"},
};

}  // namespace npukit
