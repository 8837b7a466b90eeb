#include "base/text.h"
#include "importers/onnx/source_op.h"

namespace npukit::importers::onnx {

namespace {

// Rows and columns are products of sizes that are known when the graph runs.
Result<Outcome> FlattenByShape(Emitter& e, std::int64_t axis) {
  ops::Attrs front, back, product;
  front.Set("end", axis);
  back.Set("start", axis);
  ir::ValueId sizes[2];
  for (std::size_t i = 0; i < 2; ++i) {
    NPUKIT_ASSIGN_OR_RETURN(sizes[i], e.Emit(op::shape, i == 0 ? front : back, {e.input(0)}));
    NPUKIT_ASSIGN_OR_RETURN(sizes[i], e.Emit(op::reduce_prod, product, {sizes[i]}));
  }
  ops::Attrs join, exact;
  join.Set("axis", std::int64_t{0});
  exact.Set("allowzero", std::int64_t{1});
  NPUKIT_ASSIGN_OR_RETURN(const ir::ValueId shape,
                          e.Emit(op::concat, std::move(join), {sizes[0], sizes[1]}));
  NPUKIT_RETURN_IF_ERROR(
      e.Emit(op::reshape, std::move(exact), {e.input(0), shape}, e.op.outputs[0]));
  return Outcome::Done();
}

}  // namespace

// To a matrix: the dimensions before `axis` are its rows, the others its columns.
Result<Outcome> ImportFlatten(Emitter& e) {
  const std::int64_t given = e.op.attrs.Int("axis", 1);
  const auto rank = e.Rank(0);
  if (!rank && given != 1 && given != 0) return FlattenByShape(e, given);
  const auto r = static_cast<std::int64_t>(rank.value_or(1));
  if (rank && (given < -r || given > r))
    return InvalidArgument(Cat("axis ", given, " is outside a shape of rank ", r));
  const std::int64_t axis = given < 0 ? given + r : given;
  std::vector<std::int64_t> shape{axis == 0 ? 1 : 0, -1};  // 0 copies the size of dimension 0
  if (axis > 1) {
    std::int64_t rows = 1;
    for (std::int64_t i = 0; i < axis; ++i) {
      const tensor::Dim d = e.Type(0).shape->dims[static_cast<std::size_t>(i)];
      if (!d.known()) rows = -1;
      if (rows >= 0 && __builtin_mul_overflow(rows, d.value, &rows))
        return ResourceExhausted("the rows are too many");
    }
    if (rows == 0) return FlattenByShape(e, axis);  // nothing to tell the columns by
    shape = {rows, -1};
    if (rows < 0) {  // then the columns must be known
      std::int64_t columns = 1;
      for (std::int64_t i = axis; i < r; ++i) {
        const tensor::Dim d = e.Type(0).shape->dims[static_cast<std::size_t>(i)];
        if (!d.known()) return FlattenByShape(e, axis);
        if (__builtin_mul_overflow(columns, d.value, &columns))
          return ResourceExhausted("the columns are too many");
      }
      if (columns == 0) return FlattenByShape(e, axis);
      shape = {-1, columns};
    }
  }
  if (rank && r == 0) shape = {1, 1};
  ops::Attrs attrs;
  if (rank && e.Type(0).is_static() && tensor::ElementCount(e.Type(0).dims()) == 0) {
    // Said in full: with no elements -1 could be anything.
    shape = {1, 1};
    for (std::int64_t i = 0; i < r; ++i) {
      std::int64_t& n = shape[i < axis ? 0 : 1];
      if (__builtin_mul_overflow(n, e.Type(0).dims()[static_cast<std::size_t>(i)], &n))
        return ResourceExhausted("the result is too large");
    }
    attrs.Set("allowzero", std::int64_t{1});
  }
  NPUKIT_RETURN_IF_ERROR(
      e.Emit(op::reshape, std::move(attrs), {e.input(0), e.Int64s(shape)}, e.op.outputs[0]));
  return Outcome::Done();
}

}  // namespace npukit::importers::onnx
