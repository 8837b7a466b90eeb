#include "ops/elementwise.h"

namespace npukit {
namespace {

using namespace ops;

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(tensor::Value y, MakeOutput(c, InferClassify));
  for (std::int64_t i = 0; i < y.count(); ++i) {
    const double x = Load(c.inputs[0], i);
    StoreBits(y, i, x != x);
  }
  return OkStatus();
}

}  // namespace

constinit const OpDef op::is_nan = {
    .name = "is_nan",
    .summary = "true where x is not a number",
    .infer = InferClassify,
    .reference = Reference,
    .cost = CostPerElement,
    .loop = LoopShape::kUnary,
    .layout = LayoutRule::kAny,
    .foreign = {.onnx = "IsNaN"},
};

}  // namespace npukit
