#include <cmath>

#include "base/text.h"
#include "importers/onnx/source_op.h"

namespace npukit::importers::onnx {

namespace {

Result<ir::ValueId> Transposed(Emitter& e, bool transpose, ir::ValueId id) {
  if (!transpose) return id;
  ops::Attrs attrs;
  attrs.Set("perm", ops::Ints{1, 0});
  return e.Emit(op::transpose, std::move(attrs), {id});
}

Result<ir::ValueId> Scaled(Emitter& e, float by, ir::ValueId id, tensor::DType dtype) {
  if (by == 1.0f) return id;
  NPUKIT_ASSIGN_OR_RETURN(tensor::Value factor, tensor::Value::Allocate(dtype, {}));
  tensor::StoreDouble(factor, 0, by);
  return e.Emit(op::mul, {}, {id, e.Add(std::move(factor))});
}

}  // namespace

// alpha * A' B' + beta * C
Result<Outcome> ImportGemm(Emitter& e) {
  if (!e.has(0) || !e.has(1))
    return InvalidArgument(Cat("node ", Printable(e.op.name), ": Gemm needs A and B"));
  const tensor::DType dtype = e.Type(0).dtype;
  const float alpha = e.op.attrs.Float("alpha", 1);
  const float beta = e.op.attrs.Float("beta", 1);
  const bool scales = alpha != 1 || (e.has(2) && beta != 1);
  const bool whole = tensor::IsInteger(dtype) && alpha == std::trunc(alpha) &&
                     beta == std::trunc(beta) && std::fabs(alpha) < 128 && std::fabs(beta) < 128 &&
                     (tensor::IsSigned(dtype) || (alpha >= 0 && beta >= 0));
  if (scales && !whole && (!tensor::IsFloat(dtype) || tensor::DTypeBits(dtype) < 16)) {
    return Outcome::Foreign(
        "alpha or beta is no whole number and A holds integers or is of a type not known");
  }
  if (e.Rank(0).value_or(2) != 2 || e.Rank(1).value_or(2) != 2) {
    return InvalidArgument(Cat("node ", Printable(e.op.name), ": Gemm needs matrices, found ",
                               e.Type(0).ToString(), " and ", e.Type(1).ToString()));
  }
  NPUKIT_ASSIGN_OR_RETURN(const auto a,
                          Transposed(e, e.op.attrs.Int("transA", 0) != 0, e.input(0)));
  NPUKIT_ASSIGN_OR_RETURN(const auto b,
                          Transposed(e, e.op.attrs.Int("transB", 0) != 0, e.input(1)));
  if (!e.has(2)) {
    if (alpha == 1) {
      NPUKIT_RETURN_IF_ERROR(e.Emit(op::matmul, {}, {a, b}, e.op.outputs[0]));
      return Outcome::Done();
    }
    NPUKIT_ASSIGN_OR_RETURN(const auto product, e.Emit(op::matmul, {}, {a, b}));
    NPUKIT_ASSIGN_OR_RETURN(tensor::Value factor, tensor::Value::Allocate(dtype, {}));
    tensor::StoreDouble(factor, 0, alpha);
    NPUKIT_RETURN_IF_ERROR(
        e.Emit(op::mul, {}, {product, e.Add(std::move(factor))}, e.op.outputs[0]));
    return Outcome::Done();
  }
  NPUKIT_ASSIGN_OR_RETURN(const auto c, Scaled(e, beta, e.input(2), dtype));
  // A vector of the length of a row is the bias of matmul.
  const auto& tc = e.Type(2);
  const auto& tb = e.Type(1);
  const bool trans_b = e.op.attrs.Int("transB", 0) != 0;
  const bool row = tc.is_static() && tc.shape->rank() == 1 && tb.is_static() &&
                   tc.dims()[0] == tb.dims()[trans_b ? 0 : 1];
  if (row && alpha == 1) {
    NPUKIT_RETURN_IF_ERROR(e.Emit(op::matmul, {}, {a, b, c}, e.op.outputs[0]));
    return Outcome::Done();
  }
  NPUKIT_ASSIGN_OR_RETURN(auto product, e.Emit(op::matmul, {}, {a, b}));
  NPUKIT_ASSIGN_OR_RETURN(product, Scaled(e, alpha, product, dtype));
  NPUKIT_RETURN_IF_ERROR(e.Emit(op::add, {}, {product, c}, e.op.outputs[0]));
  return Outcome::Done();
}

}  // namespace npukit::importers::onnx
