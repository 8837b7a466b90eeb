#include "base/text.h"
#include "ops/strings.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::DType;
using tensor::Value;

Status Infer(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(
      WantOneOf(c, 0, {DType::kF32, DType::kF64, DType::kI64, DType::kI32, DType::kString}));
  NPUKIT_RETURN_IF_ERROR(WantOneOf(c, 1, {DType::kI64}));
  c.outputs[0] = tensor::Type::Tensor(c.inputs[0].dtype, std::nullopt);
  if (!c.inputs[0].shape) return OkStatus();
  tensor::Shape shape = *c.inputs[0].shape;
  if (shape.rank() == 0) return InvalidArgument("input 0 is a scalar, expected a last dimension");
  if (shape.rank() == 1) shape.dims.insert(shape.dims.begin(), tensor::Dim::Of(1));
  tensor::Dim picks;
  if (c.inputs[1].is_static()) {
    const auto count = tensor::ElementCount(c.inputs[1].dims());
    if (!count) return InvalidArgument("input 1 has too many elements");
    picks = tensor::Dim::Of(*count);
  }
  shape.dims.back() = picks;
  c.outputs[0].shape = std::move(shape);
  return OkStatus();
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  const Value& x = c.inputs[0];
  const std::vector<std::int64_t> picks = tensor::ToInt64s(c.inputs[1]);
  const std::int64_t n = x.dims().back();
  for (const std::int64_t p : picks) {
    if (p < 0 || p >= n)
      return InvalidArgument(Cat("index ", p, " is outside the last dimension of ", n));
  }
  const auto width = static_cast<std::int64_t>(picks.size());
  for (std::int64_t i = 0; i < y.count(); ++i)
    CopyElement(y, i, x, i / width * n + picks[static_cast<std::size_t>(i % width)]);
  return OkStatus();
}

}  // namespace

constinit const OpDef op::array_feature_extractor = {
    .name = "array_feature_extractor",
    .summary = "the elements of the last dimension that the indices name",
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = Infer,
    .reference = Reference,
    .cost = CostMove,
    .loop = LoopShape::kMove,
    .foreign = {.onnx = "ai.onnx.ml:ArrayFeatureExtractor"},
};

}  // namespace npukit
