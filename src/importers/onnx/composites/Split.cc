#include "base/text.h"
#include "importers/onnx/source_op.h"

namespace npukit::importers::onnx {

namespace {

Status Cut(Emitter& e, std::size_t output, ir::ValueId from, ir::ValueId to, std::int64_t axis) {
  return e.Emit(op::slice, {}, {e.input(0), from, to, e.Int64s({axis})}, e.op.outputs[output]);
}

// The sizes are known when the graph runs.
Result<Outcome> CutBySizes(Emitter& e, std::int64_t axis) {
  ir::ValueId at = e.Int64s({0});
  for (std::size_t i = 0; i < e.op.outputs.size(); ++i) {
    const auto k = static_cast<std::int64_t>(i);
    NPUKIT_ASSIGN_OR_RETURN(
        const ir::ValueId size,
        e.Emit(op::slice, {}, {e.input(1), e.Int64s({k}), e.Int64s({k + 1}), e.Int64s({0})}));
    NPUKIT_ASSIGN_OR_RETURN(const ir::ValueId end, e.Emit(op::add, {}, {at, size}));
    NPUKIT_RETURN_IF_ERROR(Cut(e, i, at, end, axis));
    at = end;
  }
  return Outcome::Done();
}

// The sizes must use up what there is.
Status CheckTotal(const Emitter& e, std::int64_t axis, const ops::Ints& sizes) {
  const auto rank = e.Rank(0);
  if (!rank) return OkStatus();
  const auto place =
      static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(*rank) : axis);
  const tensor::Dim length = e.Type(0).shape->dims[place];
  std::int64_t total = 0;
  for (const std::int64_t n : sizes) {
    if (n < 0 || __builtin_add_overflow(total, n, &total))
      return InvalidArgument(Cat("split has the size ", n));
  }
  if (!length.known() || length.value == total) return OkStatus();
  return InvalidArgument(Cat("split has sizes that add up to ", total, ", expected ", length.value,
                             ", the length of axis ", axis));
}

}  // namespace

// One slice for each output. Sizes that depend on a length not known yet are computed from its
// shape.
Result<Outcome> ImportSplit(Emitter& e) {
  const std::int64_t axis = e.op.attrs.Int("axis", 0);
  if (const auto rank = e.Rank(0)) {
    const auto r = static_cast<std::int64_t>(*rank);
    if (axis < -r || axis >= r)
      return InvalidArgument(Cat("axis ", axis, " is outside a shape of rank ", r));
  }
  const std::size_t outputs = e.op.outputs.size();
  ops::Ints sizes;
  if (e.op.attrs.Find("split") != nullptr) {
    sizes = e.op.attrs.IntList("split");
  } else if (e.has(1)) {
    const tensor::Value* v = e.Constant(1);
    if (v == nullptr) return CutBySizes(e, axis);
    if (!v->is_tensor() || !tensor::IsInteger(v->dtype()) || v->count() > 1 << 20)
      return InvalidArgument(Cat("split is ", v->type().ToString(), ", expected a list of int64"));
    sizes = tensor::ToInt64s(*v);
  }
  if (!sizes.empty()) {
    if (sizes.size() < outputs) {
      return InvalidArgument(Cat("split has ", sizes.size(), " sizes, expected one for each of ",
                                 outputs, " outputs"));
    }
    NPUKIT_RETURN_IF_ERROR(CheckTotal(e, axis, sizes));
    std::int64_t at = 0;
    for (std::size_t i = 0; i < outputs; ++i) {
      std::int64_t end = 0;
      if (sizes[i] < 0 || __builtin_add_overflow(at, sizes[i], &end))
        return InvalidArgument(Cat("split has the size ", sizes[i]));
      NPUKIT_RETURN_IF_ERROR(Cut(e, i, e.Int64s({at}), e.Int64s({end}), axis));
      at = end;
    }
    return Outcome::Done();
  }
  // Equal parts, the last one shorter where they do not come out even.
  const std::int64_t parts =
      e.op.attrs.Int("num_outputs", static_cast<std::int64_t>(e.op.declared_outputs));
  if (parts < static_cast<std::int64_t>(outputs) || parts > 1 << 20)
    return InvalidArgument(Cat("num_outputs is ", parts, ", found ", outputs, " outputs"));
  const tensor::Type x = e.Type(0);
  const auto rank = e.Rank(0);
  const auto place = static_cast<std::size_t>(
      axis < 0 ? axis + static_cast<std::int64_t>(rank.value_or(1)) : axis);
  if (rank && x.shape->dims[place].known()) {
    const std::int64_t n = x.shape->dims[place].value;
    const std::int64_t each = n / parts + (n % parts != 0);
    for (std::size_t i = 0; i < outputs; ++i) {
      const std::int64_t at = each * static_cast<std::int64_t>(i);
      NPUKIT_RETURN_IF_ERROR(Cut(e, i, e.Int64s({at}), e.Int64s({at + each}), axis));
    }
    return Outcome::Done();
  }
  ops::Attrs one;
  one.Set("start", axis);
  if (axis != -1) one.Set("end", axis + 1);
  NPUKIT_ASSIGN_OR_RETURN(ir::ValueId whole, e.Emit(op::shape, std::move(one), {e.input(0)}));
  NPUKIT_ASSIGN_OR_RETURN(whole, e.Emit(op::add, {}, {whole, e.Int64s({parts - 1})}));
  NPUKIT_ASSIGN_OR_RETURN(const ir::ValueId each, e.Emit(op::div, {}, {whole, e.Int64s({parts})}));
  ir::ValueId at = e.Int64s({0});
  for (std::size_t i = 0; i < outputs; ++i) {
    NPUKIT_ASSIGN_OR_RETURN(const ir::ValueId end, e.Emit(op::add, {}, {at, each}));
    NPUKIT_RETURN_IF_ERROR(Cut(e, i, at, end, axis));
    at = end;
  }
  return Outcome::Done();
}

}  // namespace npukit::importers::onnx
