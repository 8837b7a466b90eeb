#include "base/text.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Dim;
using tensor::Value;

// "CRD" keeps the blocks of one channel of the result together, "DCR" the channels of one place.
Result<bool> ReadCrd(const Attrs& attrs) {
  const std::string_view mode = attrs.String("mode", "DCR");
  if (mode != "DCR" && mode != "CRD")
    return InvalidArgument(Cat("mode ", Printable(mode), " is not known: DCR or CRD"));
  return mode == "CRD";
}

Status Infer(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(ReadCrd(c.attrs).status());
  const std::int64_t b = c.attrs.Int("blocksize");
  if (b < 1 || b > std::int64_t{1} << 30)
    return InvalidArgument(Cat("blocksize is ", b, ", expected 1 or more"));
  const tensor::Type& x = c.inputs[0];
  c.outputs[0] = tensor::Type::Tensor(x.dtype, std::nullopt);
  if (!x.shape) return OkStatus();
  if (x.shape->rank() != 4)
    return InvalidArgument(Cat("input 0 is ", x.ToString(), ", expected rank 4"));
  std::vector<Dim> dims = x.shape->dims;
  if (dims[1].known() && dims[1].value % (b * b) != 0) {
    return InvalidArgument(
        Cat("the ", dims[1].value, " channels are no multiple of blocksize squared, ", b * b));
  }
  dims[1] = dims[1].known() ? Dim::Of(dims[1].value / (b * b)) : b == 1 ? dims[1] : Dim{};
  for (std::size_t d = 2; d < 4; ++d) {
    std::int64_t n = 0;
    if (dims[d].known() && __builtin_mul_overflow(dims[d].value, b, &n))
      return ResourceExhausted(Cat("dimension ", d, " becomes too long"));
    dims[d] = dims[d].known() ? Dim::Of(n) : b == 1 ? dims[d] : Dim{};
  }
  c.outputs[0].shape = tensor::Shape(std::move(dims));
  return OkStatus();
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  NPUKIT_ASSIGN_OR_RETURN(const bool crd, ReadCrd(*c.attrs));
  const Value& x = c.inputs[0];
  const std::int64_t b = c.attrs->Int("blocksize");
  const std::int64_t channels = y.dims()[1];
  const tensor::Dims in = tensor::DenseStrides(x.dims());
  for (std::int64_t i = 0; i < y.count(); ++i) {
    const std::int64_t w = i % y.dims()[3];
    const std::int64_t h = i / y.dims()[3] % y.dims()[2];
    const std::int64_t channel = i / (y.dims()[3] * y.dims()[2]) % channels;
    const std::int64_t n = i / (y.dims()[3] * y.dims()[2] * channels);
    const std::int64_t block = h % b * b + w % b;
    const std::int64_t from = crd ? channel * b * b + block : block * channels + channel;
    CopyElement(y, i, x, n * in[0] + from * in[1] + h / b * in[2] + w / b);
  }
  return OkStatus();
}

constexpr AttrDef kAttrs[] = {{"blocksize", AttrKind::kInt, true}, {"mode", AttrKind::kString}};

}  // namespace

constinit const OpDef op::depth_to_space = {
    .name = "depth_to_space",
    .summary = "channels become blocks of rows and columns",
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = CostMove,
    .loop = LoopShape::kMove,
    .foreign = {.onnx = "DepthToSpace",
                .tflite = "DEPTH_TO_SPACE",
                .nnrt = "OH_NN_OPS_DEPTH_TO_SPACE"},
};

}  // namespace npukit
