#include <cmath>

#include "ops/elementwise.h"

namespace npukit {
namespace {

using namespace ops;

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(tensor::Value y, MakeOutput(c, InferClassify));
  const bool negative = c.attrs->Int("detect_negative", 1) != 0;
  const bool positive = c.attrs->Int("detect_positive", 1) != 0;
  for (std::int64_t i = 0; i < y.count(); ++i) {
    const double x = Load(c.inputs[0], i);
    StoreBits(y, i, std::isinf(x) && (x < 0 ? negative : positive));
  }
  return OkStatus();
}

constexpr AttrDef kAttrs[] = {{"detect_negative", AttrKind::kInt},
                              {"detect_positive", AttrKind::kInt}};

}  // namespace

constinit const OpDef op::is_inf = {
    .name = "is_inf",
    .summary = "true where x is infinite; the attributes choose signs",
    .attrs = kAttrs,
    .infer = InferClassify,
    .reference = Reference,
    .cost = CostPerElement,
    .loop = LoopShape::kUnary,
    .layout = LayoutRule::kAny,
    .foreign = {.onnx = "IsInf"},
};

}  // namespace npukit
