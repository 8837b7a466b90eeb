// com.microsoft: products of quantised matrices that give floats.
#include "importers/onnx/composites/build.h"

namespace npukit::importers::onnx {

namespace {

using tensor::DType;

// y = float(A B less zero points) * (scale of A * scale of B) + bias
struct Product {
  ir::ValueId a, b, a_scale, b_scale, a_zero, b_zero, bias;
};

void Emit(Build& b, const Product& p, DType t) {
  const ir::ValueId sum = b(op::matmul_integer, {p.a, p.b, p.a_zero, p.b_zero});
  const ir::ValueId scale = b(op::mul, {p.a_scale, p.b_scale});
  if (p.bias == ir::kNoValue) return b.To(0, op::mul, {b.Cast(sum, t), scale});
  b.To(0, op::add, {b(op::mul, {b.Cast(sum, t), scale}), p.bias});
}

}  // namespace

// MatMulInteger takes a zero point for each row of A; here a list belongs to columns, which only
// one number can mean.
Result<Outcome> ImportMicrosoftMatMulIntegerToFloat(Emitter& e) {
  if (!e.has(2) || !tensor::IsFloat(e.Type(2).dtype)) return UnknownType("a_scale");
  Build b(e);
  Emit(b, {e.input(0), e.input(1), e.input(2), e.input(3), e.input(4), e.input(5), e.input(6)},
       e.Type(2).dtype);
  return b.Done();
}

Result<Outcome> ImportMicrosoftDynamicQuantizeMatMul(Emitter& e) {
  Build b(e);
  const ir::ValueId a = e.Fresh(), a_scale = e.Fresh(), a_zero = e.Fresh();
  NPUKIT_RETURN_IF_ERROR(
      e.EmitAll(op::dynamic_quantize_linear, {}, {e.input(0)}, {a, a_scale, a_zero}));
  Emit(b, {a, e.input(1), a_scale, e.input(2), a_zero, e.input(3), e.input(4)}, DType::kF32);
  return b.Done();
}

// A' B' + C, C in units of alpha * scale of A * scale of B; quantised where a scale for y is given.
Result<Outcome> ImportMicrosoftQGemm(Emitter& e) {
  constexpr std::size_t kA = 0, kAScale = 1, kAZero = 2, kB = 3, kBScale = 4, kBZero = 5, kC = 6,
                        kYScale = 7, kYZero = 8;
  Build b(e);
  const ir::ValueId a =
      e.op.attrs.Int("transA", 0) != 0 ? b.Transpose(e.input(kA), {1, 0}) : e.input(kA);
  const ir::ValueId w =
      e.op.attrs.Int("transB", 0) != 0 ? b.Transpose(e.input(kB), {1, 0}) : e.input(kB);
  ir::ValueId sum = b(op::matmul_integer, {a, w, e.input(kAZero), e.input(kBZero)});
  if (e.has(kC)) sum = b(op::add, {sum, e.input(kC)});
  ir::ValueId scale = b(op::mul, {e.input(kAScale), e.input(kBScale)});
  const float alpha = e.op.attrs.Float("alpha", 1);
  if (alpha != 1) scale = b(op::mul, {scale, b.Scalar(DType::kF32, alpha)});
  if (!e.has(kYScale)) {
    b.To(0, op::mul, {b.Cast(sum, DType::kF32), scale});
    return b.Done();
  }
  // One multiplication, as in requantisation: the quotient of the scales first.
  scale = b(op::div, {scale, e.input(kYScale)});
  const ir::ValueId y = b(op::mul, {b.Cast(sum, DType::kF32), scale});
  b.To(0, op::quantize_linear, {y, b.Scalar(DType::kF32, 1), e.input(kYZero)});
  return b.Done();
}

}  // namespace npukit::importers::onnx
