#include "base/text.h"
#include "importers/onnx/source_op.h"

namespace npukit::importers::onnx {

namespace {

using tensor::DType;

// The type of Mean and InvStdDev by stash_type, an ONNX number: 1 is fp32, 16 is bf16.
Result<DType> StashType(const Emitter& e) {
  const std::int64_t stash = e.op.attrs.Int("stash_type", 1);
  if (stash == 1) return DType::kF32;
  if (stash == 16) return DType::kBF16;
  return InvalidArgument(Cat("node ", Printable(e.op.name), ": stash_type is ", stash,
                             ", expected 1 (fp32) or 16 (bf16)"));
}

// scale or bias as the exact shape of x from `axis` on, which the operator wants; ONNX lets it
// broadcast.
Result<ir::ValueId> Broadcast(Emitter& e, std::size_t input, std::int64_t axis) {
  const ir::ValueId id = e.op.inputs[input];
  const auto x = e.Type(0).shape;
  const auto s = e.Type(input).shape;
  if (!x || !s) return id;
  const auto rank = static_cast<std::int64_t>(x->rank());
  if (axis < -rank || axis >= rank) return id;  // the operator says so
  const auto from = static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
  bool same = s->rank() == x->rank() - from;
  for (std::size_t d = 0; same && d < s->rank(); ++d) {
    const tensor::Dim& have = s->dims[d];
    const tensor::Dim& want = x->dims[from + d];
    same = have == want || !have.known() || (!want.known() && have.value != 1);
  }
  if (same) return id;
  ops::Attrs start;
  start.Set("start", static_cast<std::int64_t>(from));
  NPUKIT_ASSIGN_OR_RETURN(const ir::ValueId shape,
                          e.Emit(op::shape, std::move(start), {e.op.inputs[0]}));
  return e.Emit(op::expand, {}, {id, shape});
}

// Whether scale or bias has more dimensions than x has from `axis` on, which ONNX lets it.
bool IsWider(const Emitter& e, std::size_t input, std::int64_t axis) {
  const auto rank = e.Rank(0);
  const auto mine = e.Rank(input);
  if (!rank || !mine) return false;
  const auto of_x = static_cast<std::int64_t>(*rank);
  return static_cast<std::int64_t>(*mine) > (axis < 0 ? -axis : of_x - axis);
}

// Normalised with a scale of 1, then scaled and moved by operators that broadcast to all of x.
Status ByPlainOperators(Emitter& e, std::int64_t axis, ops::Attrs attrs) {
  const auto rank = static_cast<std::int64_t>(*e.Rank(0));
  ops::Attrs start;
  start.Set("start", axis < 0 ? axis + rank : axis);
  NPUKIT_ASSIGN_OR_RETURN(const ir::ValueId shape,
                          e.Emit(op::shape, std::move(start), {e.op.inputs[0]}));
  NPUKIT_ASSIGN_OR_RETURN(const ir::ValueId one, e.Number(e.Type(0).dtype, 1.0));
  NPUKIT_ASSIGN_OR_RETURN(const ir::ValueId ones, e.Emit(op::expand, {}, {one, shape}));
  NPUKIT_ASSIGN_OR_RETURN(
      const ir::ValueId normal,
      e.Emit(op::layer_normalization, std::move(attrs), {e.op.inputs[0], ones}));
  if (!e.has(2)) return e.Emit(op::mul, {}, {normal, e.op.inputs[1]}, e.op.outputs[0]);
  NPUKIT_ASSIGN_OR_RETURN(const ir::ValueId scaled, e.Emit(op::mul, {}, {normal, e.op.inputs[1]}));
  return e.Emit(op::add, {}, {scaled, e.op.inputs[2]}, e.op.outputs[0]);
}

// Mean and InvStdDev, which only training reads, by the plain operators they are made of.
Status Statistics(Emitter& e, std::int64_t axis) {
  NPUKIT_ASSIGN_OR_RETURN(const DType stash, StashType(e));
  const auto rank = e.Rank(0);
  ops::Ints axes;
  if (axis < 0) {
    for (std::int64_t a = axis; a < 0; ++a) axes.push_back(a);
  } else {
    for (std::int64_t a = axis; a < static_cast<std::int64_t>(*rank); ++a) axes.push_back(a);
  }
  ops::Attrs to, over;
  to.Set("to", static_cast<std::int64_t>(stash));
  over.Set("axes", axes);
  NPUKIT_ASSIGN_OR_RETURN(const ir::ValueId x, e.Emit(op::cast, to, {e.op.inputs[0]}));
  const ir::ValueId mean = e.op.outputs[1];
  NPUKIT_RETURN_IF_ERROR(e.Emit(op::reduce_mean, over, {x}, mean));
  if (e.op.outputs.size() < 3) return OkStatus();
  NPUKIT_ASSIGN_OR_RETURN(const ir::ValueId d, e.Emit(op::sub, {}, {x, mean}));
  NPUKIT_ASSIGN_OR_RETURN(const ir::ValueId squares, e.Emit(op::mul, {}, {d, d}));
  NPUKIT_ASSIGN_OR_RETURN(const ir::ValueId variance, e.Emit(op::reduce_mean, over, {squares}));
  NPUKIT_ASSIGN_OR_RETURN(const ir::ValueId epsilon,
                          e.Number(stash, e.op.attrs.Float("epsilon", 1e-5f)));
  NPUKIT_ASSIGN_OR_RETURN(const ir::ValueId sum, e.Emit(op::add, {}, {variance, epsilon}));
  NPUKIT_ASSIGN_OR_RETURN(const ir::ValueId root, e.Emit(op::sqrt, {}, {sum}));
  return e.Emit(op::reciprocal, {}, {root}, e.op.outputs[2]);
}

}  // namespace

Result<Outcome> ImportLayerNormalization(Emitter& e) {
  if (!e.has(0) || !e.has(1))
    return InvalidArgument(Cat("node ", Printable(e.op.name), ": it needs X and Scale"));
  const std::int64_t axis = e.op.attrs.Int("axis", -1);
  if (const auto rank = e.Rank(0)) {
    const auto r = static_cast<std::int64_t>(*rank);
    if (axis < -r || axis >= r) {
      return InvalidArgument(Cat("node ", Printable(e.op.name), ": axis ", axis, " is outside x, ",
                                 e.Type(0).ToString()));
    }
  } else if (e.op.outputs.size() > 1 && (axis >= 0 || axis < -64)) {
    return Outcome::Foreign("Mean or InvStdDev is read and the rank of x is not known",
                            "run onnx.shape_inference on the model");
  }
  // stash_type: the type of sums, which are fp32 or better here.
  ops::Attrs attrs = Only(e.op.attrs, {"axis", "epsilon"});
  if (IsWider(e, 1, axis) || (e.has(2) && IsWider(e, 2, axis))) {
    NPUKIT_RETURN_IF_ERROR(ByPlainOperators(e, axis, std::move(attrs)));
    if (e.op.outputs.size() > 1) NPUKIT_RETURN_IF_ERROR(Statistics(e, axis));
    return Outcome::Done();
  }
  std::vector<ir::ValueId> inputs = e.op.inputs;
  for (std::size_t i = 1; i < inputs.size() && i < 3; ++i) {
    if (!e.has(i)) continue;
    NPUKIT_ASSIGN_OR_RETURN(inputs[i], Broadcast(e, i, axis));
  }
  NPUKIT_RETURN_IF_ERROR(
      e.Emit(op::layer_normalization, std::move(attrs), std::move(inputs), e.op.outputs[0]));
  if (e.op.outputs.size() > 1) NPUKIT_RETURN_IF_ERROR(Statistics(e, axis));
  return Outcome::Done();
}

}  // namespace npukit::importers::onnx
