#include <vector>

#include "base/text.h"
#include "ops/quant.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::DType;
using tensor::Value;

bool IsScale(DType t) { return t == DType::kF32 || t == DType::kF16 || t == DType::kBF16; }
bool IsEightBits(DType t) {
  return tensor::DTypeBits(t) == 8 && (tensor::IsInteger(t) || tensor::IsFloat(t));
}

// a, its scale and zero point, b, ..., y's scale and zero point.
Status Infer(InferContext& c) {
  for (const std::size_t i : {0, 2, 3, 5, 7}) {
    NPUKIT_RETURN_IF_ERROR(WantDType(c, i, IsEightBits, "an integer or a float of 8 bits"));
  }
  for (const std::size_t i : {1, 4, 6})
    NPUKIT_RETURN_IF_ERROR(WantDType(c, i, IsScale, "fp32, fp16 or bf16"));
  NPUKIT_RETURN_IF_ERROR(WantSameDType(c, 0, 2));
  NPUKIT_RETURN_IF_ERROR(WantSameDType(c, 3, 5));
  for (const std::size_t i : {1, 2}) NPUKIT_RETURN_IF_ERROR(CheckMatMulParam(c, i, 0, true));
  for (const std::size_t i : {4, 5}) NPUKIT_RETURN_IF_ERROR(CheckMatMulParam(c, i, 3, false));
  for (const std::size_t i : {6, 7}) NPUKIT_RETURN_IF_ERROR(CheckMatMulParam(c, i, 0, true));
  return InferMatMul(c, 0, 3, c.inputs[7].dtype);
}

// A parameter with its strides along rows or columns; the batch strides go to the walk.
struct Param {
  const Value& v;
  tensor::Dims batch;
  std::int64_t step;
  Param(const Value& value, const MatMulWalk& w, bool rows) : v(value) {
    batch = ParamStrides(v, w, rows);
    step = batch.back();
    batch.pop_back();
  }
  double At(std::int64_t first, std::int64_t line) const { return Load(v, first + line * step); }
};

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  const Value& a = c.inputs[0];
  const Value& b = c.inputs[3];
  if (y.count() == 0) return OkStatus();
  const MatMulWalk w = WalkOf(a.dims(), b.dims(), y.dims());
  const Param a_scale(c.inputs[1], w, true), a_zero(c.inputs[2], w, true);
  const Param b_scale(c.inputs[4], w, false), b_zero(c.inputs[5], w, false);
  const Param y_scale(c.inputs[6], w, true), y_zero(c.inputs[7], w, true);
  const DType scale = c.inputs[1].dtype();
  const bool integers = tensor::IsInteger(a.dtype()) && tensor::IsInteger(b.dtype());
  ForEachIndex<8>(
      w.batch,
      {BroadcastStrides(w.batch_a, w.batch), BroadcastStrides(w.batch_b, w.batch), a_scale.batch,
       a_zero.batch, b_scale.batch, b_zero.batch, y_scale.batch, y_zero.batch},
      [&](std::int64_t i, const auto* at) {
        for (std::int64_t r = 0; r < w.m; ++r) {
          const double za = a_zero.At(at[3], r);
          for (std::int64_t l = 0; l < w.n; ++l) {
            const double zb = b_zero.At(at[5], l);
            double sum = 0;  // exact: far below 2^53
            for (std::int64_t j = 0; j < w.k; ++j) {
              sum += (Load(a, (at[0] * w.m + r) * w.k + j) - za) *
                     (Load(b, (at[1] * w.k + j) * w.n + l) - zb);
            }
            const double multiplier = ScaleOfProduct(scale, a_scale.At(at[2], r),
                                                     b_scale.At(at[4], l), y_scale.At(at[6], r));
            const std::int64_t to = (i * w.m + r) * w.n + l;
            const double zy = y_zero.At(at[7], r);
            if (integers) {
              const auto wrapped =
                  static_cast<std::int32_t>(static_cast<std::int64_t>(sum));  // as an int32 does
              StoreRequantized(y, to, wrapped, static_cast<float>(multiplier), zy);
            } else {
              StoreQuantized(y, to, sum * multiplier, zy, true);
            }
          }
        }
      });
  return OkStatus();
}

OpCost MatMulCost(const CostContext& c) { return op::matmul.cost(c); }

}  // namespace

constinit const OpDef op::qlinear_matmul = {
    .name = "qlinear_matmul",
    .summary =
        "matrix product of quantised tensors, requantised: a, scale, zero point, b, scale, "
        "zero point, scale and zero point of the result",
    .min_inputs = 8,
    .max_inputs = 8,
    .infer = Infer,
    .reference = Reference,
    .cost = MatMulCost,
    .loop = LoopShape::kOther,
    .foreign = {.onnx = "QLinearMatMul"},
};

}  // namespace npukit
