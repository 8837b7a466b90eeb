#include "base/text.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Dim;
using tensor::Value;

Status Infer(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(WantBool(c, 1));
  const tensor::Type& x = c.inputs[0];
  if (c.inputs[1].shape && c.inputs[1].shape->rank() != 1)
    return InvalidArgument(Cat("input 1 is ", c.inputs[1].ToString(), ", expected rank 1"));
  c.outputs[0] = tensor::Type::Tensor(x.dtype, std::nullopt);
  const bool flat = c.attrs.Find("axis") == nullptr;
  if (!x.shape && !flat) return OkStatus();
  std::size_t axis = 0;
  Dim length;  // of what the condition runs along
  std::vector<Dim> dims(1);
  if (flat) {
    if (x.is_static()) length = Dim::Of(tensor::ElementCount(x.dims()).value_or(-1));
  } else {
    NPUKIT_ASSIGN_OR_RETURN(axis, NormalAxis(c.attrs.Int("axis"), x.shape->rank()));
    dims = x.shape->dims;
    length = dims[axis];
  }
  dims[axis] = Dim{};
  if (const Value* condition = c.constants[1]) {
    std::int64_t n = 0;
    for (std::int64_t i = 0; i < condition->count(); ++i) {
      if (LoadBits(*condition, i) == 0) continue;
      if (length.known() && i >= length.value) {
        return InvalidArgument(
            Cat("the condition takes element ", i, " of ", length.value, " elements"));
      }
      ++n;
    }
    dims[axis] = Dim::Of(n);
  }
  c.outputs[0].shape = tensor::Shape(std::move(dims));
  return OkStatus();
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  const Value& x = c.inputs[0];
  const Value& condition = c.inputs[1];
  std::int64_t n = x.count(), row = 1;
  if (c.attrs->Find("axis") != nullptr) {
    NPUKIT_ASSIGN_OR_RETURN(const std::size_t axis,
                            NormalAxis(c.attrs->Int("axis"), x.dims().size()));
    n = x.dims()[axis];
    row = tensor::DenseStrides(x.dims())[axis];
  }
  if (y.count() == 0) return OkStatus();
  std::int64_t to = 0;
  for (std::int64_t from = 0; from < x.count(); from += row) {
    const std::int64_t k = from / row % n;
    if (k >= condition.count() || LoadBits(condition, k) == 0) continue;
    for (std::int64_t i = 0; i < row; ++i) CopyElement(y, to++, x, from + i);
  }
  return OkStatus();
}

constexpr AttrDef kAttrs[] = {{"axis", AttrKind::kInt}};

}  // namespace

constinit const OpDef op::compress = {
    .name = "compress",
    .summary =
        "the slices along an axis (the elements, when none is named) for which the condition holds",
    .min_inputs = 2,
    .max_inputs = 2,
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = CostMove,
    .loop = LoopShape::kMove,
    .foreign = {.onnx = "Compress"},
};

}  // namespace npukit
