#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(tensor::Value y, MakeOutput(c, InferSameAny));
  CopyAll(y, c.inputs[0]);
  return OkStatus();
}

OpCost ChainCost(const CostContext& c) { return {.bytes = AllBytes(c)}; }

}  // namespace

constinit const OpDef op::chain = {
    .name = "chain",
    .summary = "x, followed by its epilogue: a run of elementwise steps in one pass",
    .infer = InferSameAny,
    .reference = Reference,
    .cost = ChainCost,
    .loop = LoopShape::kUnary,
    .layout = LayoutRule::kBroadcast,
};

}  // namespace npukit
