#include "base/text.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Value;

Status Infer(InferContext& c) {
  const tensor::Type& x = c.inputs[0];
  if (x.shape && x.shape->rank() < 2)
    return InvalidArgument(Cat("input 0 is ", x.ToString(), ", expected rank 2 or more"));
  if (Has(c, 1)) {
    const tensor::Type& k = c.inputs[1];
    const bool fits = (k.dtype == tensor::DType::kUndefined || k.dtype == tensor::DType::kI64) &&
                      (!k.is_static() || tensor::ElementCount(k.dims()) == 1);
    if (!fits) return InvalidArgument(Cat("input 1 is ", k.ToString(), ", expected one int64"));
  }
  return InferSameAny(c);
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  const Value& x = c.inputs[0];
  const bool upper = c.attrs->Int("upper", 1) != 0;
  const bool has_k = c.inputs.size() > 1 && c.inputs[1].present();
  const std::int64_t k = has_k ? tensor::ElementAsInt64(c.inputs[1], 0) : 0;
  NPUKIT_ASSIGN_OR_RETURN(Value zero, Value::Allocate(x.dtype(), {}));
  if (zero.byte_size() != 0) __builtin_memset(zero.mutable_data(), 0, zero.byte_size());
  const std::size_t rank = x.dims().size();
  const std::int64_t columns = x.dims()[rank - 1];
  const std::int64_t rows = x.dims()[rank - 2];
  for (std::int64_t i = 0; i < x.count(); ++i) {
    const std::int64_t diagonal = i % columns - i / columns % rows;  // 0 on the main one
    const bool kept = upper ? diagonal >= k : diagonal <= k;
    CopyElement(y, i, kept ? x : zero, kept ? i : 0);
  }
  return OkStatus();
}

constexpr AttrDef kAttrs[] = {{"upper", AttrKind::kInt}};

}  // namespace

constinit const OpDef op::trilu = {
    .name = "trilu",
    .summary = "the triangle above (or below) the k-th diagonal of each matrix, zeros elsewhere",
    .max_inputs = 2,
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = CostMove,
    .loop = LoopShape::kMove,
    .layout = LayoutRule::kFixed,
    .foreign = {.onnx = "Trilu"},
};

}  // namespace npukit
