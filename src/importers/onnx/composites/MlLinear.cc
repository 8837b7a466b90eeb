// Linear models of ai.onnx.ml.
#include "base/text.h"
#include "importers/onnx/ml.h"

namespace npukit::importers::onnx {
namespace {

using ops::AttrKind;
using tensor::DType;
using tensor::Value;

// x * W' + b, [N, targets]; kNoValue when the rank of x is not known.
Result<ir::ValueId> Scores(Emitter& e, std::int64_t targets) {
  const ops::Floats w = e.op.attrs.FloatList("coefficients");
  const ops::Floats b = e.op.attrs.FloatList("intercepts");
  if (targets < 1 || w.empty() || w.size() % static_cast<std::size_t>(targets) != 0 ||
      (!b.empty() && static_cast<std::int64_t>(b.size()) != targets)) {
    return InvalidArgument(Cat("node ", Printable(e.op.name), ": ", w.size(), " coefficients and ",
                               b.size(), " intercepts for ", targets, " targets do not fit"));
  }
  NPUKIT_ASSIGN_OR_RETURN(const ir::ValueId x, FloatRows(e));
  if (x == ir::kNoValue) return ir::kNoValue;
  const std::size_t n = static_cast<std::size_t>(targets), features = w.size() / n;
  std::vector<float> columns(w.size());
  for (std::size_t t = 0; t < n; ++t) {
    for (std::size_t f = 0; f < features; ++f) columns[f * n + t] = w[t * features + f];
  }
  const ir::ValueId weights = e.Add(
      Value::FromVector(DType::kF32, {static_cast<std::int64_t>(features), targets}, columns));
  std::vector<ir::ValueId> inputs{x, weights};
  if (!b.empty()) inputs.push_back(Constants(e, b, DType::kF32));
  return e.Emit(op::matmul, {}, std::move(inputs));
}

// Nothing when there is no operator of ours for it.
Result<bool> Finish(Emitter& e, ir::ValueId scores, std::size_t output) {
  const std::string_view post = e.op.attrs.String("post_transform", "NONE");
  ops::Attrs last;
  last.Set("axis", std::int64_t{-1});
  const ir::ValueId y = e.op.outputs[output];
  if (post == "NONE") {
    NPUKIT_RETURN_IF_ERROR(e.Emit(op::identity, {}, {scores}, y));
  } else if (post == "LOGISTIC") {
    NPUKIT_RETURN_IF_ERROR(e.Emit(op::sigmoid, {}, {scores}, y));
  } else if (post == "SOFTMAX") {
    NPUKIT_RETURN_IF_ERROR(e.Emit(op::softmax, std::move(last), {scores}, y));
  } else {
    return false;
  }
  return true;
}

Outcome NoTransform(const Emitter& e) {
  return Outcome::Foreign(Cat("post_transform ", Printable(e.op.attrs.String("post_transform")),
                              " is not supported here"),
                          "use NONE, LOGISTIC or SOFTMAX");
}

bool Transforms(const Emitter& e) {
  const std::string_view post = e.op.attrs.String("post_transform", "NONE");
  return post == "NONE" || post == "LOGISTIC" || post == "SOFTMAX";
}

}  // namespace

Result<Outcome> ImportMlLinearRegressor(Emitter& e) {
  constexpr ops::AttrDef kAttrs[] = {{"coefficients", AttrKind::kFloats},
                                     {"intercepts", AttrKind::kFloats},
                                     {"post_transform", AttrKind::kString},
                                     {"targets", AttrKind::kInt}};
  NPUKIT_RETURN_IF_ERROR(CheckMlAttrs(e, kAttrs));
  if (!Transforms(e)) return NoTransform(e);
  NPUKIT_ASSIGN_OR_RETURN(const ir::ValueId scores, Scores(e, e.op.attrs.Int("targets", 1)));
  if (scores == ir::kNoValue) return Outcome::Foreign("the rank of its input is not known");
  NPUKIT_RETURN_IF_ERROR(Finish(e, scores, 0).status());
  return Outcome::Done();
}

// One target of two classes: the second is meant, and the first is what is left.
Result<Outcome> ImportMlLinearClassifier(Emitter& e) {
  constexpr ops::AttrDef kAttrs[] = {
      {"classlabels_ints", AttrKind::kInts}, {"classlabels_strings", AttrKind::kStrings},
      {"coefficients", AttrKind::kFloats},   {"intercepts", AttrKind::kFloats},
      {"multi_class", AttrKind::kInt},       {"post_transform", AttrKind::kString}};
  NPUKIT_RETURN_IF_ERROR(CheckMlAttrs(e, kAttrs));
  const std::size_t labels = LabelCount(e, "classlabels_ints");
  const std::size_t intercepts = e.op.attrs.FloatList("intercepts").size();
  const std::size_t targets = intercepts > 0 ? intercepts : labels;
  if (!Transforms(e)) return NoTransform(e);
  if (labels < targets || labels == 0 || (targets == 1 && labels != 2)) {
    return InvalidArgument(Cat("node ", Printable(e.op.name), ": ", labels, " class labels for ",
                               targets, " targets do not fit"));
  }
  NPUKIT_ASSIGN_OR_RETURN(const ir::ValueId scores, Scores(e, static_cast<std::int64_t>(targets)));
  if (scores == ir::kNoValue) return Outcome::Foreign("the rank of its input is not known");
  const bool wants_scores = e.op.outputs.size() > 1 && e.op.outputs[1] != ir::kNoValue;
  ir::ValueId index = ir::kNoValue;
  if (targets > 1) {
    NPUKIT_ASSIGN_OR_RETURN(index, Largest(e, scores));
    if (wants_scores) NPUKIT_RETURN_IF_ERROR(Finish(e, scores, 1).status());
  } else {
    NPUKIT_ASSIGN_OR_RETURN(index, Above(e, scores, 0));
    const bool logistic = e.op.attrs.String("post_transform", "NONE") == "LOGISTIC";
    NPUKIT_ASSIGN_OR_RETURN(const ir::ValueId both, TwoColumns(e, scores, logistic, true));
    if (wants_scores) NPUKIT_RETURN_IF_ERROR(e.Emit(op::identity, {}, {both}, e.op.outputs[1]));
  }
  NPUKIT_RETURN_IF_ERROR(EmitLabels(e, "classlabels_ints", index));
  return Outcome::Done();
}

}  // namespace npukit::importers::onnx
