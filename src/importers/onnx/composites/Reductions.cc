// The reductions: by one operator of ours where there is one, else by two or three.
#include "base/text.h"
#include "importers/onnx/source_op.h"

namespace npukit::importers::onnx {

namespace {

// `before` (may be null: the number itself; with two inputs it is taken twice), then the reduction,
// then `after` (may be null).
struct Recipe {
  const ops::OpDef* before;
  const ops::OpDef& reduce;
  const ops::OpDef* after;
};

Result<Outcome> Reduce(Emitter& e, const Recipe& recipe) {
  const Axes axes = ReadAxes(e, 1);
  if (!axes.known)
    return Outcome::Foreign("axes is not a constant", "export with axes that are constants");
  const tensor::DType t = e.has(0) ? e.Type(0).dtype : tensor::DType::kUndefined;
  const bool number = t == tensor::DType::kUndefined || t == tensor::DType::kI32 ||
                      t == tensor::DType::kI64 ||
                      (tensor::IsFloat(t) && tensor::DTypeBits(t) >= 16);
  if (!number) {
    return Outcome::Foreign(Cat("it reduces ", tensor::DTypeName(t)),
                            "cast to a floating-point type, int32 or int64 before");
  }
  ir::ValueId x = e.input(0);
  const bool nothing = axes.values.empty() && e.op.attrs.Int("noop_with_empty_axes", 0) != 0;
  const auto emit = [&](const ops::OpDef& def, ops::Attrs attrs, bool last) -> Status {
    std::vector<ir::ValueId> inputs(static_cast<std::size_t>(def.min_inputs), x);
    if (last) return e.Emit(def, std::move(attrs), std::move(inputs), e.op.outputs[0]);
    NPUKIT_ASSIGN_OR_RETURN(x, e.Emit(def, std::move(attrs), std::move(inputs)));
    return OkStatus();
  };
  if (nothing && recipe.before == nullptr && recipe.after == nullptr) {
    NPUKIT_RETURN_IF_ERROR(emit(op::identity, {}, true));
    return Outcome::Done();
  }
  if (recipe.before != nullptr) {
    NPUKIT_RETURN_IF_ERROR(emit(*recipe.before, {}, nothing && recipe.after == nullptr));
  }
  if (!nothing) {
    ops::Attrs attrs = Only(e.op.attrs, {"keepdims"});
    if (!axes.values.empty()) attrs.Set("axes", axes.values);
    NPUKIT_RETURN_IF_ERROR(emit(recipe.reduce, std::move(attrs), recipe.after == nullptr));
  }
  if (recipe.after != nullptr) NPUKIT_RETURN_IF_ERROR(emit(*recipe.after, {}, true));
  return Outcome::Done();
}

}  // namespace

Result<Outcome> ImportReduceL1(Emitter& e) {
  return Reduce(e, {&op::abs, op::reduce_sum, nullptr});
}
Result<Outcome> ImportReduceL2(Emitter& e) {
  return Reduce(e, {&op::mul, op::reduce_sum, &op::sqrt});
}
Result<Outcome> ImportReduceLogSum(Emitter& e) {
  return Reduce(e, {nullptr, op::reduce_sum, &op::log});
}
Result<Outcome> ImportReduceMax(Emitter& e) {
  return Reduce(e, {nullptr, op::reduce_max, nullptr});
}
Result<Outcome> ImportReduceMean(Emitter& e) {
  return Reduce(e, {nullptr, op::reduce_mean, nullptr});
}
Result<Outcome> ImportReduceMin(Emitter& e) {
  return Reduce(e, {nullptr, op::reduce_min, nullptr});
}
Result<Outcome> ImportReduceSum(Emitter& e) {
  return Reduce(e, {nullptr, op::reduce_sum, nullptr});
}
Result<Outcome> ImportReduceSumSquare(Emitter& e) {
  return Reduce(e, {&op::mul, op::reduce_sum, nullptr});
}

}  // namespace npukit::importers::onnx
