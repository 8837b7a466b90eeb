#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Value;

Status Infer(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(WantFloat(c, 0));
  const std::int64_t size = c.attrs.Int("size");
  if (size < 1 || size > (std::int64_t{1} << 30))
    return InvalidArgument(Cat("attribute size is ", size, ", expected 1 or more channels"));
  if (c.inputs[0].shape && c.inputs[0].shape->rank() < 2) {
    return InvalidArgument(Cat("input 0 is ", c.inputs[0].ToString(), ", expected rank 2 or more"));
  }
  return InferSameAny(c);
}

// Channels are dimension 1; an even size reaches further up than down.
Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  const Value& x = c.inputs[0];
  const std::int64_t size = c.attrs->Int("size");
  const double scale =
      static_cast<double>(c.attrs->Float("alpha", 1e-4f)) / static_cast<double>(size);
  const double beta = c.attrs->Float("beta", 0.75f);
  const double bias = c.attrs->Float("bias", 1);
  const std::int64_t channels = x.dims()[1];
  const std::int64_t inner = tensor::DenseStrides(x.dims())[1];
  for (std::int64_t i = 0; i < x.count(); ++i) {
    const std::int64_t ch = i / inner % channels;
    const std::int64_t first = std::max<std::int64_t>(0, ch - (size - 1) / 2);
    const std::int64_t last = std::min(channels - 1, ch + size / 2);
    double sum = 0;
    for (std::int64_t k = first; k <= last; ++k) {
      const double v = Load(x, i + (k - ch) * inner);
      sum += v * v;
    }
    Store(y, i, Load(x, i) / std::pow(bias + scale * sum, beta));
  }
  return OkStatus();
}

OpCost LrnCost(const CostContext& c) {
  return {.vector_ops = (static_cast<double>(c.attrs.Int("size")) + 12) * CountOf(c.outputs[0]),
          .bytes = AllBytes(c)};
}

constexpr AttrDef kAttrs[] = {{"alpha", AttrKind::kFloat},
                              {"beta", AttrKind::kFloat},
                              {"bias", AttrKind::kFloat},
                              {"size", AttrKind::kInt, true}};

}  // namespace

constinit const OpDef op::lrn = {
    .name = "lrn",
    .summary = "x / (bias + alpha / size * sum of squares of size channels around it) ^ beta",
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = LrnCost,
    .loop = LoopShape::kOther,
    .layout = LayoutRule::kFixed,
    .foreign = {.onnx = "LRN", .tflite = "LOCAL_RESPONSE_NORMALIZATION", .nnrt = "OH_NN_OPS_LRN"},
};

}  // namespace npukit
