#include "base/text.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Dim;
using tensor::Dims;
using tensor::DType;
using tensor::Shape;
using tensor::Value;

// fp types, int32, int64 and their unsigned forms, as in ONNX.
Status WantMatMulType(const InferContext& c, std::size_t i) {
  const DType t = c.inputs[i].dtype;
  const bool wide = t == DType::kI32 || t == DType::kI64 || t == DType::kU32 || t == DType::kU64;
  if (t == DType::kUndefined || wide || IsRealFloat(t)) return OkStatus();
  return InvalidArgument(Cat("input ", i, " is ", tensor::DTypeName(t),
                             ", expected a float or an integer of 32 or 64 bits"));
}

// numpy: a vector on the left is a row, on the right a column, and the made-up dimension goes
// again.
Shape AsRow(const Shape& s) { return s.rank() == 1 ? Shape({Dim::Of(1), s.dims[0]}) : s; }
Shape AsColumn(const Shape& s) { return s.rank() == 1 ? Shape({s.dims[0], Dim::Of(1)}) : s; }
Shape Batch(const Shape& s) { return Shape({s.dims.begin(), s.dims.end() - 2}); }

Status Infer(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(WantMatMulType(c, 0));
  NPUKIT_RETURN_IF_ERROR(WantSameDType(c, 0, 1));
  const tensor::Type& a = c.inputs[0];
  const tensor::Type& b = c.inputs[1];
  c.outputs[0] = tensor::Type::Tensor(a.dtype, std::nullopt);
  Dim columns;  // N
  if (b.shape) {
    if (b.shape->rank() == 0) return InvalidArgument("b is a scalar, expected rank 1 or more");
    columns = AsColumn(*b.shape).dims.back();
  }
  if (Has(c, 2)) {
    NPUKIT_RETURN_IF_ERROR(WantSameDType(c, 0, 2));
    const tensor::Type& bias = c.inputs[2];
    if (b.shape && b.shape->rank() == 1) return InvalidArgument("a bias needs b of rank 2 or more");
    if (bias.shape && (bias.shape->rank() != 1 || !SameDim(bias.shape->dims[0], columns).ok())) {
      return InvalidArgument(Cat("bias is ", bias.ToString(),
                                 ", expected one number for each of the ", columns.value,
                                 " columns of b"));
    }
  }
  if (a.shape && a.shape->rank() == 0)
    return InvalidArgument("a is a scalar, expected rank 1 or more");
  if (!a.shape || !b.shape) return OkStatus();
  const Shape sa = AsRow(*a.shape);
  const Shape sb = AsColumn(*b.shape);
  if (!SameDim(sa.dims.back(), sb.dims[sb.rank() - 2]).ok()) {
    return InvalidArgument(Cat("expected ", sa.dims.back().value,
                               " rows in b, as many as a has columns, found ",
                               sb.dims[sb.rank() - 2].value));
  }
  NPUKIT_ASSIGN_OR_RETURN(auto batch, BroadcastShapes(Batch(sa), Batch(sb)));
  std::vector<Dim> dims = batch->dims;
  if (a.shape->rank() > 1) dims.push_back(sa.dims[sa.rank() - 2]);
  if (b.shape->rank() > 1) dims.push_back(columns);
  c.outputs[0].shape = Shape(std::move(dims));
  return OkStatus();
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  const Value& a = c.inputs[0];
  const Value& b = c.inputs[1];
  const Value* bias = c.inputs.size() > 2 && c.inputs[2].present() ? &c.inputs[2] : nullptr;
  const std::size_t ra = a.dims().size();
  const std::size_t rb = b.dims().size();
  const std::int64_t m = ra == 1 ? 1 : a.dims()[ra - 2];
  const std::int64_t k = a.dims().back();
  const std::int64_t n = rb == 1 ? 1 : b.dims().back();
  const auto batch_of = [](const Dims& d) {
    return Dims(d.begin(), d.size() < 2 ? d.begin() : d.end() - 2);
  };
  const Dims batch_a = batch_of(a.dims());
  const Dims batch_b = batch_of(b.dims());
  const std::size_t kept = (ra > 1) + (rb > 1);
  const Dims batch(y.dims().begin(), y.dims().end() - static_cast<std::ptrdiff_t>(kept));
  const bool floats = IsRealFloat(a.dtype());
  ForEachIndex<2>(batch, {BroadcastStrides(batch_a, batch), BroadcastStrides(batch_b, batch)},
                  [&](std::int64_t i, const auto* at) {
                    for (std::int64_t row = 0; row < m; ++row) {
                      for (std::int64_t col = 0; col < n; ++col) {
                        const std::int64_t to = (i * m + row) * n + col;
                        const std::int64_t from_a = (at[0] * m + row) * k;
                        const std::int64_t from_b = at[1] * k * n + col;
                        if (floats) {
                          double sum = bias ? Load(*bias, col) : 0;
                          for (std::int64_t j = 0; j < k; ++j)
                            sum += Load(a, from_a + j) * Load(b, from_b + j * n);
                          Store(y, to, sum);
                        } else {
                          std::uint64_t sum = bias ? LoadBits(*bias, col) : 0;
                          for (std::int64_t j = 0; j < k; ++j)
                            sum += LoadBits(a, from_a + j) * LoadBits(b, from_b + j * n);
                          StoreBits(y, to, sum);
                        }
                      }
                    }
                  });
  return OkStatus();
}

OpCost MatMulCost(const CostContext& c) {
  OpCost cost{.bytes = AllBytes(c)};
  if (c.inputs[0].is_static() && c.inputs[0].shape->rank() > 0) {
    cost.macs = CountOf(c.outputs[0]) * static_cast<double>(c.inputs[0].dims().back());
  }
  return cost;
}

}  // namespace

constinit const OpDef op::matmul = {
    .name = "matmul",
    .summary = "matrix product over the last two dimensions, the others broadcast; plus bias [N]",
    .min_inputs = 2,
    .max_inputs = 3,
    .infer = Infer,
    .reference = Reference,
    .cost = MatMulCost,
    .loop = LoopShape::kMatMul,
    .layout = LayoutRule::kFixed,
    .foreign = {.onnx = "MatMul", .tflite = "BATCH_MATMUL", .nnrt = "OH_NN_OPS_MATMUL"},
};

}  // namespace npukit
