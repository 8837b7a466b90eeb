#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "ops/random.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::DType;
using tensor::Value;

Status Infer(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(WantFloat(c, 0));
  const DType t = c.attrs.Find("dtype") == nullptr ? DType::kI32 : TypeAttr(c.attrs);
  if (t != DType::kI32 && t != DType::kI64) {
    return InvalidArgument(
        Cat("attribute dtype is ", tensor::DTypeName(t), ", expected int32 or int64"));
  }
  const std::int64_t samples = c.attrs.Int("sample_size", 1);
  if (samples < 1) return InvalidArgument(Cat("sample_size is ", samples, ", expected 1 or more"));
  tensor::Dim batch;
  if (c.inputs[0].shape) {
    const std::vector<tensor::Dim>& dims = c.inputs[0].shape->dims;
    if (dims.size() != 2 || (dims[1].known() && dims[1].value == 0)) {
      return InvalidArgument(
          Cat("input 0 is ", c.inputs[0].ToString(), ", expected [batch, classes]"));
    }
    batch = dims[0];
  }
  c.outputs[0] = tensor::Type::Tensor(
      t, tensor::Shape(std::vector<tensor::Dim>{batch, tensor::Dim::Of(samples)}));
  return OkStatus();
}

// x holds logarithms of probabilities that need not add up to one.
Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  const Value& x = c.inputs[0];
  const std::int64_t classes = x.dims()[1];
  const std::int64_t samples = y.dims()[1];
  const std::int64_t seed = c.attrs->Int("seed", 0);
  std::vector<double> upto(static_cast<std::size_t>(classes));
  for (std::int64_t b = 0; b < y.dims()[0]; ++b) {
    double top = -HUGE_VAL;
    for (std::int64_t k = 0; k < classes; ++k) top = std::fmax(top, Load(x, b * classes + k));
    double sum = 0;
    for (std::int64_t k = 0; k < classes; ++k) {
      const double weight = std::exp(Load(x, b * classes + k) - top);
      if (weight > 0) sum += weight;  // NaN has no weight
      upto[static_cast<std::size_t>(k)] = sum;
    }
    if (!(sum > 0)) return InvalidArgument(Cat("row ", b, " has no class of any probability"));
    for (std::int64_t s = 0; s < samples; ++s) {
      const double at = sum * UniformAt(seed, static_cast<std::uint64_t>(b * samples + s));
      auto found = std::upper_bound(upto.begin(), upto.end(), at);
      // Rounded up to the sum: the last class that has a weight.
      if (found == upto.end()) found = std::lower_bound(upto.begin(), upto.end(), sum);
      StoreBits(y, b * samples + s, static_cast<std::uint64_t>(found - upto.begin()));
    }
  }
  return OkStatus();
}

constexpr AttrDef kAttrs[] = {
    {"dtype", AttrKind::kInt}, {"sample_size", AttrKind::kInt}, {"seed", AttrKind::kInt}};

OpCost DrawCost(const CostContext& c) {
  const bool rows = c.inputs[0].is_static() && c.inputs[0].dims().size() == 2;
  const double classes = rows ? static_cast<double>(c.inputs[0].dims()[1]) : 0;
  return {.vector_ops =
              10 * CountOf(c.inputs[0]) + (10 + 2 * std::log2(classes + 1)) * CountOf(c.outputs[0]),
          .bytes = AllBytes(c)};
}

}  // namespace

constinit const OpDef op::multinomial = {
    .name = "multinomial",
    .summary = "classes drawn by the logarithms of their probabilities; the same for the same seed",
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = DrawCost,
    .loop = LoopShape::kOther,
    .layout = LayoutRule::kFixed,
};

}  // namespace npukit
