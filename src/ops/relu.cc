#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;

double Apply(double x, const Attrs&) { return x < 0 ? 0 : x; }  // NaN stays NaN

Status Reference(EvalContext& c) {
  if (!tensor::IsInteger(c.inputs[0].dtype())) return EvaluateUnary(c, InferSameNumber, Apply);
  NPUKIT_ASSIGN_OR_RETURN(tensor::Value y, MakeOutput(c, InferSameNumber));
  const tensor::Value& x = c.inputs[0];
  const bool is_signed = tensor::IsSigned(x.dtype());
  for (std::int64_t i = 0; i < x.count(); ++i) {
    const std::uint64_t bits = LoadBits(x, i);
    StoreBits(y, i, is_signed && static_cast<std::int64_t>(bits) < 0 ? 0 : bits);
  }
  return OkStatus();
}

}  // namespace

constinit const OpDef op::relu = {
    .name = "relu",
    .summary = "max(x, 0)",
    .infer = InferSameNumber,
    .reference = Reference,
    .cost = CostPerElement,
    .loop = LoopShape::kUnary,
    .layout = LayoutRule::kAny,
    .foreign = {.onnx = "Relu", .tflite = "RELU", .nnrt = "OH_NN_OPS_RELU"},
};

}  // namespace npukit
