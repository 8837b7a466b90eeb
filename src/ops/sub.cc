#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;

double Apply(double a, double b) { return a - b; }

bool ApplyInt(std::uint64_t a, std::uint64_t b, bool, std::uint64_t* y) {
  *y = a - b;
  return true;
}

Status Reference(EvalContext& c) { return EvaluateBinary(c, Apply, ApplyInt); }

}  // namespace

constinit const OpDef op::sub = {
    .name = "sub",
    .summary = "a - b with numpy broadcasting; integers wrap",
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = InferBroadcast,
    .reference = Reference,
    .cost = CostPerElement,
    .loop = LoopShape::kBinary,
    .layout = LayoutRule::kBroadcast,
    .foreign = {.onnx = "Sub", .tflite = "SUB", .nnrt = "OH_NN_OPS_SUB"},
};

}  // namespace npukit
