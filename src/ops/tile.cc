#include "base/text.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Dim;
using tensor::Value;

Status Infer(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(WantIndexList(c, 1, false));
  c.outputs[0] = tensor::Type::Tensor(c.inputs[0].dtype, c.inputs[0].shape);
  if (!c.inputs[0].shape) return OkStatus();
  std::vector<Dim>& dims = c.outputs[0].shape->dims;
  if (c.constants[1] == nullptr) {
    for (Dim& d : dims) d = Dim{};
    return OkStatus();
  }
  if (c.constants[1]->count() != static_cast<std::int64_t>(dims.size())) {
    return InvalidArgument(Cat("input 1 has ", c.constants[1]->count(),
                               " numbers, expected one for each of ", dims.size(), " dimensions"));
  }
  const Ints repeats = tensor::ToInt64s(*c.constants[1]);
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (repeats[i] < 0)
      return InvalidArgument(Cat("dimension ", i, " cannot be repeated ", repeats[i], " times"));
    if (repeats[i] == 1) continue;
    std::int64_t n = 0;
    if (dims[i].known() && __builtin_mul_overflow(dims[i].value, repeats[i], &n))
      return ResourceExhausted(Cat("dimension ", i, " becomes too long"));
    dims[i] = dims[i].known() ? Dim::Of(n) : Dim{};
  }
  return OkStatus();
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  const Value& x = c.inputs[0];
  const tensor::Dims strides = tensor::DenseStrides(x.dims());
  const tensor::Dims out_strides = tensor::DenseStrides(y.dims());
  for (std::int64_t i = 0; i < y.count(); ++i) {
    std::int64_t from = 0;
    for (std::size_t d = 0; d < strides.size(); ++d)
      from += i / out_strides[d] % y.dims()[d] % x.dims()[d] * strides[d];
    CopyElement(y, i, x, from);
  }
  return OkStatus();
}

}  // namespace

constinit const OpDef op::tile = {
    .name = "tile",
    .summary = "x repeated along each dimension as often as the list says",
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = Infer,
    .reference = Reference,
    .cost = CostMove,
    .loop = LoopShape::kMove,
    .layout = LayoutRule::kFixed,
    .foreign = {.onnx = "Tile", .tflite = "TILE", .nnrt = "OH_NN_OPS_TILE"},
};

}  // namespace npukit
