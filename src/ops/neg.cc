#include <cmath>

#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;

double Apply(double x, const Attrs&) { return -x; }

std::uint64_t ApplyInt(std::uint64_t x, bool) { return 0 - x; }

Status Reference(EvalContext& c) { return EvaluateUnaryNumber(c, Apply, ApplyInt); }

}  // namespace

constinit const OpDef op::neg = {
    .name = "neg",
    .summary = "-x; integers wrap",
    .infer = InferSameNumber,
    .reference = Reference,
    .cost = CostPerElement,
    .loop = LoopShape::kUnary,
    .layout = LayoutRule::kAny,
    .foreign = {.onnx = "Neg", .tflite = "NEG", .nnrt = "OH_NN_OPS_NEG"},
};

}  // namespace npukit
