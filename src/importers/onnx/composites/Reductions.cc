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
  const char* name;  // as reduce_over calls it
  const ops::OpDef* after;
};

// Axes that are computed are an input of `reduce_over`; known ones are an attribute.
Result<Outcome> Reduce(Emitter& e, const Recipe& recipe) {
  const Axes axes = ReadAxes(e, 1);
  const tensor::DType t = e.has(0) ? e.Type(0).dtype : tensor::DType::kUndefined;
  const bool nothing =
      axes.known && axes.values.empty() && e.op.attrs.Int("noop_with_empty_axes", 0) != 0;
  // Roots and logarithms of integers are worked out as real numbers and cut.
  const bool by_floats = recipe.after != nullptr && tensor::IsInteger(t);

  // The steps in order; the last one writes the node's output.
  struct Step {
    const ops::OpDef* def;
    ops::Attrs attrs;
    ir::ValueId second = ir::kNoValue;
  };
  std::vector<Step> steps;
  const auto cast = [&](tensor::DType to) {
    ops::Attrs attrs;
    attrs.Set("to", static_cast<std::int64_t>(to));
    steps.push_back({&op::cast, std::move(attrs)});
  };
  if (recipe.before != nullptr) steps.push_back({recipe.before, {}});
  if (!axes.known) {
    ops::Attrs attrs = Only(e.op.attrs, {"keepdims", "noop_with_empty_axes"});
    attrs.Set("reduction", std::string(recipe.name));
    steps.push_back({&op::reduce_over, std::move(attrs), e.input(1)});
  } else if (!nothing) {
    ops::Attrs attrs = Only(e.op.attrs, {"keepdims"});
    if (!axes.values.empty()) attrs.Set("axes", axes.values);
    steps.push_back({&recipe.reduce, std::move(attrs)});
  }
  if (by_floats) cast(tensor::DType::kF64);
  if (recipe.after != nullptr) steps.push_back({recipe.after, {}});
  if (by_floats) cast(t);
  if (steps.empty()) steps.push_back({&op::identity, {}});

  ir::ValueId x = e.input(0);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    Step& s = steps[i];
    std::vector<ir::ValueId> inputs(static_cast<std::size_t>(s.def->min_inputs), x);
    if (s.second != ir::kNoValue) inputs = {x, s.second};
    if (i + 1 == steps.size()) {
      NPUKIT_RETURN_IF_ERROR(
          e.Emit(*s.def, std::move(s.attrs), std::move(inputs), e.op.outputs[0]));
    } else {
      NPUKIT_ASSIGN_OR_RETURN(x, e.Emit(*s.def, std::move(s.attrs), std::move(inputs)));
    }
  }
  return Outcome::Done();
}

}  // namespace

Result<Outcome> ImportReduceL1(Emitter& e) {
  return Reduce(e, {&op::abs, op::reduce_sum, "sum", nullptr});
}
Result<Outcome> ImportReduceL2(Emitter& e) {
  return Reduce(e, {&op::mul, op::reduce_sum, "sum", &op::sqrt});
}
Result<Outcome> ImportReduceLogSum(Emitter& e) {
  return Reduce(e, {nullptr, op::reduce_sum, "sum", &op::log});
}
Result<Outcome> ImportReduceLogSumExp(Emitter& e) {
  return Reduce(e, {nullptr, op::reduce_log_sum_exp, "log_sum_exp", nullptr});
}
Result<Outcome> ImportReduceMax(Emitter& e) {
  return Reduce(e, {nullptr, op::reduce_max, "max", nullptr});
}
Result<Outcome> ImportReduceMean(Emitter& e) {
  return Reduce(e, {nullptr, op::reduce_mean, "mean", nullptr});
}
Result<Outcome> ImportReduceMin(Emitter& e) {
  return Reduce(e, {nullptr, op::reduce_min, "min", nullptr});
}
Result<Outcome> ImportReduceProd(Emitter& e) {
  return Reduce(e, {nullptr, op::reduce_prod, "prod", nullptr});
}
Result<Outcome> ImportReduceSum(Emitter& e) {
  return Reduce(e, {nullptr, op::reduce_sum, "sum", nullptr});
}
Result<Outcome> ImportReduceSumSquare(Emitter& e) {
  return Reduce(e, {&op::mul, op::reduce_sum, "sum", nullptr});
}

}  // namespace npukit::importers::onnx
