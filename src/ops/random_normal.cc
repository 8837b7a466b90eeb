#include "ops/random.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Value;

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, InferFilled));
  const std::int64_t seed = c.attrs->Int("seed", 0);
  const double mean = c.attrs->Float("mean", 0);
  const double scale = c.attrs->Float("scale", 1);
  for (std::int64_t i = 0; i < y.count(); ++i)
    Store(y, i, mean + scale * NormalAt(seed, static_cast<std::uint64_t>(i)));
  return OkStatus();
}

constexpr AttrDef kAttrs[] = {{"dtype", AttrKind::kInt},
                              {"mean", AttrKind::kFloat},
                              {"scale", AttrKind::kFloat},
                              {"seed", AttrKind::kInt}};

}  // namespace

constinit const OpDef op::random_normal = {
    .name = "random_normal",
    .summary = "normally distributed numbers in the shape given; the same for the same seed",
    .attrs = kAttrs,
    .infer = InferFilled,
    .reference = Reference,
    .cost = CostPerElement10,
    .loop = LoopShape::kOther,
    .layout = LayoutRule::kFixed,
};

}  // namespace npukit
