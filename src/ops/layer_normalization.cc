#include <cmath>

#include "base/text.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Value;

// scale and bias have the shape of the normalised dimensions: those from `axis` on.
Status Infer(InferContext& c) {
  const float epsilon = c.attrs.Float("epsilon", 1e-5f);
  if (!(epsilon >= 0)) {
    return InvalidArgument(
        Cat("attribute epsilon is ", epsilon, ", expected a number of 0 or more"));
  }
  NPUKIT_RETURN_IF_ERROR(WantFloat(c, 0));
  NPUKIT_RETURN_IF_ERROR(InferSameAny(c));
  std::size_t axis = 0;
  if (c.inputs[0].shape) {
    NPUKIT_ASSIGN_OR_RETURN(axis, NormalAxis(c.attrs.Int("axis", -1), c.inputs[0].shape->rank()));
  }
  for (std::size_t i = 1; i < c.inputs.size(); ++i) {
    if (!Has(c, i)) continue;
    NPUKIT_RETURN_IF_ERROR(WantSameDType(c, 0, i));
    if (!c.inputs[0].shape || !c.inputs[i].shape) continue;
    const tensor::Shape& x = *c.inputs[0].shape;
    const tensor::Shape& s = *c.inputs[i].shape;
    bool fits = s.rank() == x.rank() - axis;
    for (std::size_t d = 0; fits && d < s.rank(); ++d)
      fits = SameDim(s.dims[d], x.dims[axis + d]).ok();
    if (!fits) {
      return InvalidArgument(Cat("input ", i, " is ", c.inputs[i].ToString(),
                                 ", expected the shape of ", c.inputs[0].ToString(), " from axis ",
                                 axis, " on"));
    }
  }
  return OkStatus();
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  const Value& x = c.inputs[0];
  NPUKIT_ASSIGN_OR_RETURN(const std::size_t axis,
                          NormalAxis(c.attrs->Int("axis", -1), x.dims().size()));
  std::int64_t n = 1;
  for (std::size_t d = axis; d < x.dims().size(); ++d) n *= x.dims()[d];
  const double epsilon = c.attrs->Float("epsilon", 1e-5f);
  const bool has_bias = c.inputs.size() > 2 && c.inputs[2].present();
  for (std::int64_t at = 0; at < x.count(); at += n) {
    double mean = 0;
    for (std::int64_t i = 0; i < n; ++i) mean += Load(x, at + i);
    mean /= static_cast<double>(n);
    double variance = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const double d = Load(x, at + i) - mean;
      variance += d * d;
    }
    const double root = std::sqrt(variance / static_cast<double>(n) + epsilon);
    for (std::int64_t i = 0; i < n; ++i) {
      const double bias = has_bias ? Load(c.inputs[2], i) : 0;
      Store(y, at + i, (Load(x, at + i) - mean) / root * Load(c.inputs[1], i) + bias);
    }
  }
  return OkStatus();
}

OpCost LayerNormCost(const CostContext& c) {
  return {.vector_ops = 7 * CountOf(c.outputs[0]), .bytes = AllBytes(c)};
}

constexpr AttrDef kAttrs[] = {{"axis", AttrKind::kInt}, {"epsilon", AttrKind::kFloat}};

}  // namespace

constinit const OpDef op::layer_normalization = {
    .name = "layer_normalization",
    .summary = "(x - mean) / sqrt(var + epsilon) * scale + bias over the dimensions from axis on",
    .min_inputs = 2,
    .max_inputs = 3,
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = LayerNormCost,
    .loop = LoopShape::kOther,
    .layout = LayoutRule::kFixed,
    .foreign = {.onnx = "LayerNormalization", .nnrt = "OH_NN_OPS_LAYER_NORM"},
};

}  // namespace npukit
