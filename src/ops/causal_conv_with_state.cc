#include <cmath>
#include <vector>

#include "base/text.h"
#include "ops/outputs.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Dim;
using tensor::Shape;
using tensor::Type;
using tensor::Value;

constexpr std::size_t kBias = 2, kPast = 3;

Result<bool> IsSwish(const Attrs& attrs) {
  const std::string_view f = attrs.String("activation", "none");
  if (f == "silu" || f == "swish") return true;
  if (f == "none" || f.empty()) return false;
  return InvalidArgument(Cat("activation is ", Printable(f), ", expected none, silu or swish"));
}

// Results: y, and the last numbers before its end, which the next call goes on from.
Status Infer(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(WantFloat(c, 0));
  for (std::size_t i = 1; i < c.inputs.size(); ++i) {
    if (Has(c, i)) NPUKIT_RETURN_IF_ERROR(WantSameDType(c, 0, i));
  }
  NPUKIT_RETURN_IF_ERROR(IsSwish(c.attrs).status());
  const Type& x = c.inputs[0];
  const Type& w = c.inputs[1];
  c.outputs[0] = x;
  c.outputs[1] = Type::Tensor(x.dtype, std::nullopt);
  Dim batch, channels, before;
  if (x.shape) {
    if (x.shape->rank() != 3)
      return InvalidArgument(Cat("x is ", x.ToString(), ", expected rank 3"));
    batch = x.shape->dims[0];
    channels = x.shape->dims[1];
  }
  if (w.shape) {
    const auto& d = w.shape->dims;
    if (d.size() != 3 || !SameDim(d[0], channels).ok() || !SameDim(d[1], Dim::Of(1)).ok() ||
        d[2].value == 0) {
      return InvalidArgument(
          Cat("w is ", w.ToString(), ", expected [channels, 1, kernel] for x ", x.ToString()));
    }
    if (d[2].known()) before = Dim::Of(d[2].value - 1);
  }
  if (Has(c, kBias) && c.inputs[kBias].shape) {
    const auto& d = c.inputs[kBias].shape->dims;
    if (d.size() != 1 || !SameDim(d[0], channels).ok()) {
      return InvalidArgument(Cat("bias is ", c.inputs[kBias].ToString(),
                                 ", expected one number for each channel of x ", x.ToString()));
    }
  }
  const Shape state({batch, channels, before});
  if (Has(c, kPast) && c.inputs[kPast].shape) {
    const auto& d = c.inputs[kPast].shape->dims;
    bool fits = d.size() == 3;
    for (std::size_t i = 0; fits && i < 3; ++i) fits = SameDim(d[i], state.dims[i]).ok();
    if (!fits) {
      return InvalidArgument(
          Cat("the past state is ", c.inputs[kPast].ToString(), ", expected ", state.ToString()));
    }
  }
  if (x.shape) c.outputs[1].shape = state;
  return OkStatus();
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(std::vector<Value> out, MakeOutputs(c, Infer, 2));
  if (out[0].count() == 0 && out[1].count() == 0) return OkStatus();
  const Value& x = c.inputs[0];
  const Value& w = c.inputs[1];
  const Value bias = c.inputs.size() > kBias ? c.inputs[kBias] : Value();
  const Value past = c.inputs.size() > kPast ? c.inputs[kPast] : Value();
  NPUKIT_ASSIGN_OR_RETURN(const bool swish, IsSwish(*c.attrs));
  const std::int64_t channels = x.dims()[1], length = x.dims()[2];
  const std::int64_t kernel = w.dims()[2], before = kernel - 1;
  std::vector<double> row(static_cast<std::size_t>(before + length));
  for (std::int64_t r = 0; r < x.dims()[0] * channels; ++r) {
    const std::int64_t ch = r % channels;
    for (std::int64_t i = 0; i < before; ++i)
      row[static_cast<std::size_t>(i)] = past.present() ? Load(past, r * before + i) : 0;
    for (std::int64_t i = 0; i < length; ++i)
      row[static_cast<std::size_t>(before + i)] = Load(x, r * length + i);
    for (std::int64_t i = 0; i < length; ++i) {
      double sum = bias.present() ? Load(bias, ch) : 0;
      for (std::int64_t k = 0; k < kernel; ++k)
        sum += row[static_cast<std::size_t>(i + k)] * Load(w, ch * kernel + k);
      Store(out[0], r * length + i, swish ? sum / (1 + std::exp(-sum)) : sum);
    }
    for (std::int64_t i = 0; i < before; ++i)
      Store(out[1], r * before + i, row[static_cast<std::size_t>(length + i)]);
  }
  return OkStatus();
}

constexpr AttrDef kAttrs[] = {{"activation", AttrKind::kString}};

OpCost ConvCost(const CostContext& c) {
  OpCost cost{.bytes = AllBytes(c)};
  if (c.inputs[1].is_static())
    cost.macs = CountOf(c.outputs[0]) * static_cast<double>(c.inputs[1].dims().back());
  return cost;
}

}  // namespace

constinit const OpDef op::causal_conv_with_state = {
    .name = "causal_conv_with_state",
    .summary =
        "each channel convolved with its own kernel over what came before, and the state "
        "that the next call goes on from",
    .min_inputs = 2,
    .max_inputs = 4,
    .outputs = 2,
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = ConvCost,
    .foreign = {.onnx = "CausalConvWithState"},
};

}  // namespace npukit
