#include <cmath>
#include <numbers>

#include "base/text.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;

double Apply(double x, const Attrs& attrs) {
  if (attrs.String("approximate", "none") == "tanh") {
    const double inner = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
    return 0.5 * x * (1 + std::tanh(inner));
  }
  return 0.5 * x * std::erfc(-x / std::numbers::sqrt2);  // erfc: a far negative x keeps its digits
}

Status Infer(InferContext& c) {
  const std::string_view approximate = c.attrs.String("approximate", "none");
  if (approximate != "none" && approximate != "tanh") {
    return InvalidArgument(
        Cat("attribute approximate is ", Printable(approximate), ", expected none or tanh"));
  }
  return InferSameFloat(c);
}

Status Reference(EvalContext& c) { return EvaluateUnary(c, Infer, Apply); }

constexpr AttrDef kAttrs[] = {{"approximate", AttrKind::kString}};

}  // namespace

constinit const OpDef op::gelu = {
    .name = "gelu",
    .summary = "x times the normal distribution up to x; approximate \"tanh\": by a tanh",
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = CostPerElement10,
    .loop = LoopShape::kUnary,
    .layout = LayoutRule::kAny,
    .foreign = {.onnx = "Gelu", .tflite = "GELU", .nnrt = "OH_NN_OPS_GELU"},
};

}  // namespace npukit
