#include "ops/norm.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Dims;
using tensor::Value;

// The result has the type of scale, which broadcasts to x: as a rule from `axis` on, but the
// standard lets it have more dimensions.
Status Infer(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(WantEpsilon(c));
  NPUKIT_RETURN_IF_ERROR(WantFloat(c, 0));
  NPUKIT_RETURN_IF_ERROR(WantFloat(c, 1));
  c.outputs[0] = tensor::Type::Tensor(c.inputs[1].dtype, c.inputs[0].shape);
  if (!c.inputs[0].shape) return OkStatus();
  const tensor::Shape& x = *c.inputs[0].shape;
  NPUKIT_RETURN_IF_ERROR(NormalAxis(c.attrs.Int("axis", -1), x.rank()).status());
  if (!c.inputs[1].shape) return OkStatus();
  const tensor::Shape& s = *c.inputs[1].shape;
  bool fits = s.rank() <= x.rank();
  for (std::size_t d = 0; fits && d < s.rank(); ++d) {
    fits = s.dims[d].value == 1 || SameDim(s.dims[d], x.dims[x.rank() - s.rank() + d]).ok();
  }
  if (fits) return OkStatus();
  return InvalidArgument(Cat("scale is ", c.inputs[1].ToString(), ", which does not broadcast to ",
                             c.inputs[0].ToString()));
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  const Value& x = c.inputs[0];
  const Value& scale = c.inputs[1];
  NPUKIT_ASSIGN_OR_RETURN(const std::size_t axis,
                          NormalAxis(c.attrs->Int("axis", -1), x.dims().size()));
  if (x.count() == 0) return OkStatus();
  std::int64_t n = 1;
  for (std::size_t d = axis; d < x.dims().size(); ++d) n *= x.dims()[d];
  const double epsilon = c.attrs->Float("epsilon", 1e-5f);
  double root = 0;
  ForEachIndex<1>(x.dims(), {BroadcastStrides(scale.dims(), x.dims())},
                  [&](std::int64_t i, const auto* from) {
                    if (i % n == 0) {
                      double squares = 0;
                      for (std::int64_t k = i; k < i + n; ++k) squares += Load(x, k) * Load(x, k);
                      root = std::sqrt(squares / static_cast<double>(n) + epsilon);
                    }
                    Store(y, i, Load(x, i) / root * Load(scale, from[0]));
                  });
  return OkStatus();
}

// stash_type: the type of the sums, which are double here.
constexpr AttrDef kAttrs[] = {
    {"axis", AttrKind::kInt}, {"epsilon", AttrKind::kFloat}, {"stash_type", AttrKind::kInt}};

}  // namespace

constinit const OpDef op::rms_normalization = {
    .name = "rms_normalization",
    .summary = "x / sqrt(mean of squares + epsilon) * scale over the dimensions from axis on",
    .min_inputs = 2,
    .max_inputs = 2,
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = NormCost,
    .loop = LoopShape::kOther,
    .layout = LayoutRule::kFixed,
    .foreign = {.onnx = "RMSNormalization"},
};

}  // namespace npukit
