#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;

double Apply(double x, double slope) { return x < 0 ? slope * x : x; }

bool ApplyInt(std::uint64_t x, std::uint64_t slope, bool is_signed, std::uint64_t* y) {
  *y = is_signed && static_cast<std::int64_t>(x) < 0 ? x * slope : x;
  return true;
}

Status Reference(EvalContext& c) { return EvaluateBinary(c, Apply, ApplyInt); }

}  // namespace

constinit const OpDef op::prelu = {
    .name = "prelu",
    .summary = "x where x >= 0, slope * x elsewhere, with numpy broadcasting",
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = InferBroadcast,
    .reference = Reference,
    .cost = CostPerElement,
    .loop = LoopShape::kBinary,
    .layout = LayoutRule::kBroadcast,
    .foreign = {.onnx = "PRelu", .tflite = "PRELU", .nnrt = "OH_NN_OPS_PRELU"},
};

}  // namespace npukit
