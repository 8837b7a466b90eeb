#include "base/text.h"
#include "ops/indexing.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Value;

Status Infer(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(WantIndices(c, 1, false));
  const tensor::Type& x = c.inputs[0];
  const tensor::Type& lengths = c.inputs[1];
  c.outputs[0] = x;
  const std::int64_t batch = c.attrs.Int("batch_axis", 1), time = c.attrs.Int("time_axis", 0);
  if (!(batch == 0 && time == 1) && !(batch == 1 && time == 0)) {
    return InvalidArgument(
        Cat("batch_axis and time_axis are ", batch, " and ", time, ", expected 0 and 1"));
  }
  if (lengths.shape && lengths.shape->rank() != 1)
    return InvalidArgument(Cat("input 1 is ", lengths.ToString(), ", expected rank 1"));
  if (!x.shape) return OkStatus();
  if (x.shape->rank() < 2)
    return InvalidArgument(Cat("input 0 is ", x.ToString(), ", expected rank 2 or more"));
  if (lengths.shape) {
    const auto n = SameDim(x.shape->dims[static_cast<std::size_t>(batch)], lengths.shape->dims[0]);
    if (!n.ok()) return n.status().WithContext("sequences and their lengths");
  }
  return OkStatus();
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  const Value& x = c.inputs[0];
  const auto batch = static_cast<std::size_t>(c.attrs->Int("batch_axis", 1));
  const auto time = static_cast<std::size_t>(c.attrs->Int("time_axis", 0));
  const std::int64_t steps = x.dims()[time];
  for (std::int64_t i = 0; i < c.inputs[1].count(); ++i) {
    const std::int64_t n = tensor::ElementAsInt64(c.inputs[1], i);
    if (n < 0 || n > steps)
      return InvalidArgument(
          Cat("sequence ", i, " has the length ", n, ", there are ", steps, " steps"));
  }
  const tensor::Dims strides = tensor::DenseStrides(x.dims());
  for (std::int64_t i = 0; i < x.count(); ++i) {
    const std::int64_t t = i / strides[time] % steps;
    const std::int64_t b = i / strides[batch] % x.dims()[batch];
    const std::int64_t n = tensor::ElementAsInt64(c.inputs[1], b);
    CopyElement(y, i, x, t < n ? i + (n - 1 - 2 * t) * strides[time] : i);
  }
  return OkStatus();
}

constexpr AttrDef kAttrs[] = {{"batch_axis", AttrKind::kInt}, {"time_axis", AttrKind::kInt}};

}  // namespace

constinit const OpDef op::reverse_sequence = {
    .name = "reverse_sequence",
    .summary = "each sequence of a batch backwards, up to its own length",
    .min_inputs = 2,
    .max_inputs = 2,
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = CostMove,
    .loop = LoopShape::kMove,
    .foreign = {.onnx = "ReverseSequence", .tflite = "REVERSE_SEQUENCE"},
};

}  // namespace npukit
