#include <vector>

#include "base/text.h"
#include "ops/quant.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Value;

Status Infer(InferContext& c) {
  for (std::size_t i = 0; i < c.inputs.size(); ++i) NPUKIT_RETURN_IF_ERROR(WantInt8(c, i));
  if (Has(c, 2)) NPUKIT_RETURN_IF_ERROR(WantSameDType(c, 0, 2));
  if (Has(c, 3)) NPUKIT_RETURN_IF_ERROR(WantSameDType(c, 1, 3));
  NPUKIT_RETURN_IF_ERROR(CheckMatMulParam(c, 2, 0, true));
  NPUKIT_RETURN_IF_ERROR(CheckMatMulParam(c, 3, 1, false));
  return InferMatMul(c, 0, 1, tensor::DType::kI32);
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  const Value& a = c.inputs[0];
  const Value& b = c.inputs[1];
  const Value za = c.inputs.size() > 2 ? c.inputs[2] : Value();
  const Value zb = c.inputs.size() > 3 ? c.inputs[3] : Value();
  const MatMulWalk w = WalkOf(a.dims(), b.dims(), y.dims());
  if (y.count() == 0) return OkStatus();
  tensor::Dims sa = ParamStrides(za, w, true);
  tensor::Dims sb = ParamStrides(zb, w, false);
  const std::int64_t row_step = sa.back(), col_step = sb.back();
  sa.pop_back();
  sb.pop_back();
  std::vector<std::int32_t> wa(static_cast<std::size_t>(w.m * w.k));
  std::vector<std::int32_t> wb(static_cast<std::size_t>(w.k * w.n));
  ForEachIndex<4>(
      w.batch, {BroadcastStrides(w.batch_a, w.batch), BroadcastStrides(w.batch_b, w.batch), sa, sb},
      [&](std::int64_t i, const auto* at) {
        Widen(a, at[0] * w.m * w.k, w.m * w.k, wa.data());
        Widen(b, at[1] * w.k * w.n, w.k * w.n, wb.data());
        if (za.present()) {
          for (std::int64_t r = 0; r < w.m; ++r) {
            std::int32_t z = 0;
            Widen(za, at[2] + r * row_step, 1, &z);
            for (std::int64_t j = 0; j < w.k; ++j) wa[static_cast<std::size_t>(r * w.k + j)] -= z;
          }
        }
        if (zb.present()) {
          std::vector<std::int32_t> zeros(static_cast<std::size_t>(w.n));
          for (std::int64_t l = 0; l < w.n; ++l)
            Widen(zb, at[3] + l * col_step, 1, &zeros[static_cast<std::size_t>(l)]);
          for (std::int64_t j = 0; j < w.k; ++j) {
            for (std::int64_t l = 0; l < w.n; ++l)
              wb[static_cast<std::size_t>(j * w.n + l)] -= zeros[static_cast<std::size_t>(l)];
          }
        }
        MultiplyIntegers(wa.data(), wb.data(),
                         static_cast<std::int32_t*>(y.mutable_data()) + i * w.m * w.n, w.m, w.k,
                         w.n);
      });
  return OkStatus();
}

OpCost MatMulCost(const CostContext& c) { return op::matmul.cost(c); }

}  // namespace

constinit const OpDef op::matmul_integer = {
    .name = "matmul_integer",
    .summary = "matrix product of 8-bit integers less their zero points, as int32 (wraps)",
    .min_inputs = 2,
    .max_inputs = 4,
    .infer = Infer,
    .reference = Reference,
    .cost = MatMulCost,
    .loop = LoopShape::kOther,
    .foreign = {.onnx = "MatMulInteger"},
};

}  // namespace npukit
