// DepthToSpace and SpaceToDepth. Where channels, rows and columns are known they are reshape,
// transpose, reshape, for which every device has kernels.
#include "importers/onnx/source_op.h"

namespace npukit::importers::onnx {

namespace {

constexpr std::int64_t kMaxBlock = 1 << 15;

// The sizes of x, when they are known and divide as the operator needs them to.
bool Splits(const Emitter& e, bool to_space, std::int64_t b, std::int64_t (&sizes)[3]) {
  if (e.Rank(0) != 4 || b < 1 || b > kMaxBlock) return false;
  for (std::size_t d = 0; d < 3; ++d) {
    const tensor::Dim dim = e.Type(0).shape->dims[d + 1];
    if (!dim.known() || dim.value == 0 || dim.value > std::int64_t{1} << 30) return false;
    sizes[d] = dim.value;
  }
  return to_space ? sizes[0] % (b * b) == 0 : sizes[1] % b == 0 && sizes[2] % b == 0;
}

Result<Outcome> EmitMoves(Emitter& e, const ops::Ints& apart, const ops::Ints& perm,
                          const ops::Ints& together) {
  NPUKIT_ASSIGN_OR_RETURN(ir::ValueId v, e.Emit(op::reshape, {}, {e.input(0), e.Int64s(apart)}));
  ops::Attrs attrs;
  attrs.Set("perm", perm);
  NPUKIT_ASSIGN_OR_RETURN(v, e.Emit(op::transpose, std::move(attrs), {v}));
  NPUKIT_RETURN_IF_ERROR(e.Emit(op::reshape, {}, {v, e.Int64s(together)}, e.op.outputs[0]));
  return Outcome::Done();
}

}  // namespace

Result<Outcome> ImportDepthToSpace(Emitter& e) {
  const std::int64_t b = e.op.attrs.Int("blocksize", 0);
  const std::string_view mode = e.op.attrs.String("mode", "DCR");
  std::int64_t n[3];
  if ((mode != "DCR" && mode != "CRD") || !Splits(e, true, b, n)) {
    NPUKIT_RETURN_IF_ERROR(e.Emit(op::depth_to_space, Only(e.op.attrs, {"blocksize", "mode"}),
                                  e.op.inputs, e.op.outputs[0]));
    return Outcome::Done();
  }
  const std::int64_t c = n[0] / (b * b);
  const ops::Ints together{0, c, n[1] * b, n[2] * b};
  if (mode == "CRD") return EmitMoves(e, {0, c, b, b, n[1], n[2]}, {0, 1, 4, 2, 5, 3}, together);
  return EmitMoves(e, {0, b, b, c, n[1], n[2]}, {0, 3, 4, 1, 5, 2}, together);
}

Result<Outcome> ImportSpaceToDepth(Emitter& e) {
  const std::int64_t b = e.op.attrs.Int("blocksize", 0);
  std::int64_t n[3];
  if (!Splits(e, false, b, n)) {
    NPUKIT_RETURN_IF_ERROR(
        e.Emit(op::space_to_depth, Only(e.op.attrs, {"blocksize"}), e.op.inputs, e.op.outputs[0]));
    return Outcome::Done();
  }
  return EmitMoves(e, {0, n[0], n[1] / b, b, n[2] / b, b}, {0, 3, 5, 1, 2, 4},
                   {0, n[0] * b * b, n[1] / b, n[2] / b});
}

}  // namespace npukit::importers::onnx
