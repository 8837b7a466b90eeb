#include <cmath>

#include "base/text.h"
#include "importers/onnx/source_op.h"

namespace npukit::importers::onnx {

namespace {

using tensor::DType;

Result<ir::ValueId> Transposed(Emitter& e, bool transpose, ir::ValueId id) {
  if (!transpose) return id;
  ops::Attrs attrs;
  attrs.Set("perm", ops::Ints{1, 0});
  return e.Emit(op::transpose, std::move(attrs), {id});
}

Result<ir::ValueId> CastTo(Emitter& e, ir::ValueId id, DType t) {
  ops::Attrs to;
  to.Set("to", static_cast<std::int64_t>(t));
  return e.Emit(op::cast, std::move(to), {id});
}

// by * id. Integers by a whole number stay integers; by any other they are scaled in fp64 and cut.
Result<ir::ValueId> Scaled(Emitter& e, float by, ir::ValueId id, DType dtype) {
  if (by == 1.0f) return id;
  if (dtype == DType::kBool || dtype == DType::kString)
    return InvalidArgument(
        Cat("its matrices are ", tensor::DTypeName(dtype), ", expected numbers"));
  const bool float_type = tensor::IsFloat(dtype);
  const bool whole =
      std::trunc(by) == by && std::fabs(by) < 1e9f && (by >= 0 || tensor::IsSigned(dtype));
  if (!float_type && !whole) {
    NPUKIT_ASSIGN_OR_RETURN(id, CastTo(e, id, DType::kF64));
    NPUKIT_ASSIGN_OR_RETURN(const ir::ValueId factor, e.Number(DType::kF64, by));
    NPUKIT_ASSIGN_OR_RETURN(id, e.Emit(op::mul, {}, {id, factor}));
    return CastTo(e, id, dtype);
  }
  NPUKIT_ASSIGN_OR_RETURN(const ir::ValueId factor, e.Number(dtype, by));
  return e.Emit(op::mul, {}, {id, factor});
}

// The type of the operands: of any of them that is known.
DType TypeOf(const Emitter& e) {
  for (std::size_t i = 0; i < 3; ++i) {
    if (e.has(i) && e.Type(i).dtype != DType::kUndefined) return e.Type(i).dtype;
  }
  return DType::kUndefined;
}

}  // namespace

// alpha * A' B' + beta * C
Result<Outcome> ImportGemm(Emitter& e) {
  if (!e.has(0) || !e.has(1))
    return InvalidArgument(Cat("node ", Printable(e.op.name), ": Gemm needs A and B"));
  const DType dtype = TypeOf(e);
  const float alpha = e.op.attrs.Float("alpha", 1);
  const float beta = e.op.attrs.Float("beta", 1);
  if ((alpha != 1 || (e.has(2) && beta != 1)) && dtype == DType::kUndefined) {
    return Outcome::Foreign("alpha or beta with operands whose type is not known",
                            "run onnx.shape_inference on the model");
  }
  if (e.Rank(0).value_or(2) != 2 || e.Rank(1).value_or(2) != 2) {
    return InvalidArgument(Cat("node ", Printable(e.op.name), ": Gemm needs matrices, found ",
                               e.Type(0).ToString(), " and ", e.Type(1).ToString()));
  }
  if (e.has(2) && e.Rank(2).value_or(0) > 2) {
    return InvalidArgument(Cat("node ", Printable(e.op.name), ": C is ", e.Type(2).ToString(),
                               ", expected what broadcasts to a matrix"));
  }
  NPUKIT_ASSIGN_OR_RETURN(const auto a,
                          Transposed(e, e.op.attrs.Int("transA", 0) != 0, e.input(0)));
  NPUKIT_ASSIGN_OR_RETURN(const auto b,
                          Transposed(e, e.op.attrs.Int("transB", 0) != 0, e.input(1)));
  if (!e.has(2) && alpha == 1) {
    NPUKIT_RETURN_IF_ERROR(e.Emit(op::matmul, {}, {a, b}, e.op.outputs[0]));
    return Outcome::Done();
  }
  if (!e.has(2)) {
    NPUKIT_ASSIGN_OR_RETURN(const auto product, e.Emit(op::matmul, {}, {a, b}));
    NPUKIT_ASSIGN_OR_RETURN(const auto y, Scaled(e, alpha, product, dtype));
    NPUKIT_RETURN_IF_ERROR(e.Emit(op::identity, {}, {y}, e.op.outputs[0]));
    return Outcome::Done();
  }
  NPUKIT_ASSIGN_OR_RETURN(const auto c, Scaled(e, beta, e.input(2), dtype));
  // A vector of the length of a row is the bias of matmul.
  const tensor::Type tc = e.Type(2);
  const tensor::Type tb = e.Type(1);
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
