#include "base/text.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Dim;
using tensor::Value;

Status Infer(InferContext& c) {
  const std::int64_t b = c.attrs.Int("blocksize");
  if (b < 1 || b > std::int64_t{1} << 30)
    return InvalidArgument(Cat("blocksize is ", b, ", expected 1 or more"));
  const tensor::Type& x = c.inputs[0];
  c.outputs[0] = tensor::Type::Tensor(x.dtype, std::nullopt);
  if (!x.shape) return OkStatus();
  if (x.shape->rank() != 4)
    return InvalidArgument(Cat("input 0 is ", x.ToString(), ", expected rank 4"));
  std::vector<Dim> dims = x.shape->dims;
  std::int64_t channels = 0;
  if (dims[1].known() && __builtin_mul_overflow(dims[1].value, b * b, &channels))
    return ResourceExhausted("the channels become too many");
  dims[1] = dims[1].known() ? Dim::Of(channels) : b == 1 ? dims[1] : Dim{};
  for (std::size_t d = 2; d < 4; ++d) {
    if (dims[d].known() && dims[d].value % b != 0) {
      return InvalidArgument(
          Cat("dimension ", d, " is ", dims[d].value, ", no multiple of blocksize ", b));
    }
    dims[d] = dims[d].known() ? Dim::Of(dims[d].value / b) : b == 1 ? dims[d] : Dim{};
  }
  c.outputs[0].shape = tensor::Shape(std::move(dims));
  return OkStatus();
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  const Value& x = c.inputs[0];
  const std::int64_t b = c.attrs->Int("blocksize");
  const std::int64_t channels = x.dims()[1];
  const tensor::Dims in = tensor::DenseStrides(x.dims());
  for (std::int64_t i = 0; i < y.count(); ++i) {
    const std::int64_t w = i % y.dims()[3];
    const std::int64_t h = i / y.dims()[3] % y.dims()[2];
    const std::int64_t deep = i / (y.dims()[3] * y.dims()[2]) % y.dims()[1];
    const std::int64_t n = i / (y.dims()[3] * y.dims()[2] * y.dims()[1]);
    const std::int64_t block = deep / channels;
    CopyElement(
        y, i, x,
        n * in[0] + deep % channels * in[1] + (h * b + block / b) * in[2] + w * b + block % b);
  }
  return OkStatus();
}

constexpr AttrDef kAttrs[] = {{"blocksize", AttrKind::kInt, true}};

}  // namespace

constinit const OpDef op::space_to_depth = {
    .name = "space_to_depth",
    .summary = "blocks of rows and columns become channels",
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = CostMove,
    .loop = LoopShape::kMove,
    .foreign = {.onnx = "SpaceToDepth",
                .tflite = "SPACE_TO_DEPTH",
                .nnrt = "OH_NN_OPS_SPACE_TO_DEPTH"},
};

}  // namespace npukit
