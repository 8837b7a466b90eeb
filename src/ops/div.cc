#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;

double Apply(double a, double b) { return a / b; }

bool ApplyInt(std::uint64_t a, std::uint64_t b, bool is_signed, std::uint64_t* y) {
  if (b == 0) return false;
  if (!is_signed) {
    *y = a / b;
  } else if (b == ~std::uint64_t{0}) {
    *y = 0 - a;  // by -1: the lowest number wraps instead of overflowing
  } else {
    *y = static_cast<std::uint64_t>(static_cast<std::int64_t>(a) / static_cast<std::int64_t>(b));
  }
  return true;
}

Status Reference(EvalContext& c) { return EvaluateBinary(c, Apply, ApplyInt); }

}  // namespace

constinit const OpDef op::div = {
    .name = "div",
    .summary = "a / b with numpy broadcasting; integers truncate towards zero",
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = InferBroadcast,
    .reference = Reference,
    .cost = CostPerElement,
    .loop = LoopShape::kBinary,
    .layout = LayoutRule::kBroadcast,
    .foreign = {.onnx = "Div", .tflite = "DIV", .nnrt = "OH_NN_OPS_DIV"},
};

}  // namespace npukit
