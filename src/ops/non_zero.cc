#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Dim;
using tensor::DType;
using tensor::Value;

// NaN is not zero, -0 is; of a complex number either part counts, of a string that it is not empty.
bool IsNonZero(const Value& v, std::int64_t i) {
  if (v.dtype() == DType::kString) return !v.strings()[static_cast<std::size_t>(i)].empty();
  if (v.dtype() == DType::kComplex64 || v.dtype() == DType::kComplex128) {
    const bool narrow = v.dtype() == DType::kComplex64;
    const Value parts =
        Value::Borrow(narrow ? DType::kF32 : DType::kF64, {2 * v.count()}, v.data());
    return Load(parts, 2 * i) != 0 || Load(parts, 2 * i + 1) != 0;
  }
  if (v.dtype() == DType::kBool || tensor::IsInteger(v.dtype())) return LoadBits(v, i) != 0;
  return tensor::ElementAsDouble(v, i) != 0;
}

Status Infer(InferContext& c) {
  c.outputs[0] = tensor::Type::Tensor(DType::kI64, tensor::Shape({Dim{}, Dim{}}));
  std::vector<Dim>& dims = c.outputs[0].shape->dims;
  if (c.inputs[0].shape) dims[0] = Dim::Of(static_cast<std::int64_t>(c.inputs[0].shape->rank()));
  if (c.constants[0] == nullptr) return OkStatus();
  std::int64_t n = 0;
  for (std::int64_t i = 0; i < c.constants[0]->count(); ++i) n += IsNonZero(*c.constants[0], i);
  dims[1] = Dim::Of(n);
  return OkStatus();
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  const Value& x = c.inputs[0];
  const tensor::Dims strides = tensor::DenseStrides(x.dims());
  const std::int64_t n = y.dims()[1];
  std::int64_t found = 0;
  for (std::int64_t i = 0; i < x.count(); ++i) {
    if (!IsNonZero(x, i)) continue;
    for (std::size_t d = 0; d < strides.size(); ++d) {
      StoreBits(y, static_cast<std::int64_t>(d) * n + found,
                static_cast<std::uint64_t>(i / strides[d] % x.dims()[d]));
    }
    ++found;
  }
  return OkStatus();
}

}  // namespace

constinit const OpDef op::non_zero = {
    .name = "non_zero",
    .summary = "where x is not zero: a column of indices for each such element, in order",
    .infer = Infer,
    .reference = Reference,
    .cost = CostMove,
    .loop = LoopShape::kOther,
    .foreign = {.onnx = "NonZero"},
};

}  // namespace npukit
