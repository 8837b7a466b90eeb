#include "ops/reduce.h"

namespace npukit {
namespace {

using namespace ops;

// The mean of nothing is NaN, and 0 for integers, which are divided towards zero.
struct MeanOf : SumOf {
  static double End(double f, std::int64_t n) { return f / static_cast<double>(n); }
  static std::uint64_t EndInt(std::uint64_t a, std::int64_t n) {
    return n == 0 ? 0 : static_cast<std::uint64_t>(static_cast<std::int64_t>(a) / n);
  }
};

Status Reference(EvalContext& c) { return EvaluateReduce<MeanOf>(c); }

}  // namespace

constinit const OpDef op::reduce_mean = {
    .name = "reduce_mean",
    .summary = "mean over the named axes (all, when none is named)",
    .attrs = kReduceAttrs,
    .infer = InferReduce,
    .reference = Reference,
    .cost = ReduceCost,
    .loop = LoopShape::kReduce,
    .layout = LayoutRule::kAxes,
    .foreign = {.onnx = "ReduceMean", .tflite = "MEAN", .nnrt = "OH_NN_OPS_REDUCE_MEAN"},
};

}  // namespace npukit
