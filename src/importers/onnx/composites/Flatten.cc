#include "base/text.h"
#include "importers/onnx/source_op.h"

namespace npukit::importers::onnx {

// To a matrix: the dimensions before `axis` are its rows, the others its columns.
Result<Outcome> ImportFlatten(Emitter& e) {
  const std::int64_t given = e.op.attrs.Int("axis", 1);
  const auto rank = e.Rank(0);
  if (!rank && given != 1 && given != 0) {
    return Outcome::Foreign("the number of dimensions is not known",
                            "run onnx.shape_inference on the model");
  }
  const auto r = static_cast<std::int64_t>(rank.value_or(1));
  if (rank && (given < -r || given > r))
    return InvalidArgument(Cat("axis ", given, " is outside a shape of rank ", r));
  const std::int64_t axis = given < 0 ? given + r : given;
  std::vector<std::int64_t> shape{axis == 0 ? 1 : 0, -1};  // 0 copies the size of dimension 0
  if (axis > 1) {
    std::int64_t rows = 1;
    for (std::int64_t i = 0; i < axis; ++i) {
      const tensor::Dim& d = e.Type(0).shape->dims[static_cast<std::size_t>(i)];
      if (!d.known()) rows = -1;
      if (rows >= 0 && __builtin_mul_overflow(rows, d.value, &rows))
        return ResourceExhausted("the rows are too many");
    }
    shape = {rows, -1};
    if (rows < 0) {  // then the columns must be known
      std::int64_t columns = 1;
      for (std::int64_t i = axis; i < r; ++i) {
        const tensor::Dim& d = e.Type(0).shape->dims[static_cast<std::size_t>(i)];
        if (!d.known() || __builtin_mul_overflow(columns, d.value, &columns))
          return Outcome::Foreign("rows and columns are both not known",
                                  "--shape with fixed sizes");
      }
      shape = {-1, columns};
    }
  }
  if (rank && r == 0) shape = {1, 1};
  NPUKIT_RETURN_IF_ERROR(e.Emit(op::reshape, {}, {e.input(0), e.Int64s(shape)}, e.op.outputs[0]));
  return Outcome::Done();
}

}  // namespace npukit::importers::onnx
