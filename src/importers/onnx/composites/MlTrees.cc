// TreeEnsembleClassifier and TreeEnsembleRegressor (ai.onnx.ml 1 to 5): tree_ensemble with nodes in
// their form, and labels.
#include <algorithm>
#include <iterator>
#include <set>

#include "base/text.h"
#include "importers/onnx/ml.h"

namespace npukit::importers::onnx {
namespace {

using ops::AttrKind;
using tensor::DType;
using tensor::Value;

constexpr ops::AttrDef kNodes[] = {{"base_values", AttrKind::kFloats},
                                   {"base_values_as_tensor", AttrKind::kTensor},
                                   {"nodes_falsenodeids", AttrKind::kInts},
                                   {"nodes_featureids", AttrKind::kInts},
                                   {"nodes_hitrates", AttrKind::kFloats},
                                   {"nodes_hitrates_as_tensor", AttrKind::kTensor},
                                   {"nodes_missing_value_tracks_true", AttrKind::kInts},
                                   {"nodes_modes", AttrKind::kStrings},
                                   {"nodes_nodeids", AttrKind::kInts},
                                   {"nodes_treeids", AttrKind::kInts},
                                   {"nodes_truenodeids", AttrKind::kInts},
                                   {"nodes_values", AttrKind::kFloats},
                                   {"nodes_values_as_tensor", AttrKind::kTensor},
                                   {"post_transform", AttrKind::kString}};

std::vector<ops::AttrDef> With(std::initializer_list<ops::AttrDef> more) {
  std::vector<ops::AttrDef> all(std::begin(kNodes), std::end(kNodes));
  all.insert(all.end(), more);
  return all;
}

// The place of a name in a list.
Result<std::int64_t> NumberOf(const Emitter& e, std::string_view attr, std::string_view otherwise,
                              std::initializer_list<std::string_view> names) {
  const std::string_view name = e.op.attrs.String(attr, otherwise);
  const auto at = std::find(names.begin(), names.end(), name);
  if (at != names.end()) return at - names.begin();
  return InvalidArgument(Cat("node ", Printable(e.op.name), ": ", attr, " is ", Printable(name)));
}

Result<ops::Attrs> TreeAttrs(const Emitter& e, std::string_view votes, std::int64_t targets) {
  ops::Attrs a = Only(
      e.op.attrs, {"base_values", "base_values_as_tensor", "nodes_falsenodeids", "nodes_featureids",
                   "nodes_missing_value_tracks_true", "nodes_nodeids", "nodes_treeids",
                   "nodes_truenodeids", "nodes_values", "nodes_values_as_tensor"});
  const auto copy = [&](const std::string& from, std::string_view to) {
    if (const ops::AttrValue* v = e.op.attrs.Find(from)) a.Set(to, *v);
  };
  copy("nodes_modes", "nodes_mode_names");
  copy(Cat(votes, "_ids"), "target_ids");
  copy(Cat(votes, "_nodeids"), "target_nodeids");
  copy(Cat(votes, "_treeids"), "target_treeids");
  copy(Cat(votes, "_weights"), "target_weights");
  copy(Cat(votes, "_weights_as_tensor"), "target_weights_as_tensor");
  a.Set("n_targets", targets);
  for (const std::string_view needed :
       {"nodes_treeids", "nodes_featureids", "nodes_truenodeids", "nodes_falsenodeids"}) {
    if (a.Find(needed) == nullptr)
      return InvalidArgument(Cat("node ", Printable(e.op.name), ": ", needed, " is missing"));
  }
  return a;
}

Result<std::int64_t> PostTransform(const Emitter& e) {
  return NumberOf(e, "post_transform", "NONE",
                  {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"});
}

bool AnyNegative(const ops::Attrs& a) {
  const Value* t = a.Tensor("target_weights_as_tensor");
  if (t != nullptr && tensor::IsFloat(t->dtype())) {  // the operator refuses other types
    for (std::int64_t i = 0; i < t->count(); ++i) {
      if (tensor::ElementAsDouble(*t, i) < 0) return true;
    }
  }
  const ops::Floats w = a.FloatList("target_weights");
  return std::any_of(w.begin(), w.end(), [](float f) { return f < 0; });
}

}  // namespace

Result<Outcome> ImportMlTreeEnsembleRegressor(Emitter& e) {
  const auto known = With({{"aggregate_function", AttrKind::kString},
                           {"n_targets", AttrKind::kInt},
                           {"target_ids", AttrKind::kInts},
                           {"target_nodeids", AttrKind::kInts},
                           {"target_treeids", AttrKind::kInts},
                           {"target_weights", AttrKind::kFloats},
                           {"target_weights_as_tensor", AttrKind::kTensor}});
  NPUKIT_RETURN_IF_ERROR(CheckMlAttrs(e, known));
  NPUKIT_ASSIGN_OR_RETURN(ops::Attrs a, TreeAttrs(e, "target", e.op.attrs.Int("n_targets", 1)));
  NPUKIT_ASSIGN_OR_RETURN(const std::int64_t post, PostTransform(e));
  NPUKIT_ASSIGN_OR_RETURN(const std::int64_t aggregate, NumberOf(e, "aggregate_function", "SUM",
                                                                 {"AVERAGE", "SUM", "MIN", "MAX"}));
  a.Set("post_transform", post);
  a.Set("aggregate_function", aggregate);
  NPUKIT_RETURN_IF_ERROR(
      e.Emit(op::tree_ensemble, std::move(a), {e.op.inputs[0]}, e.op.outputs[0]));
  return Outcome::Done();
}

// The class with the most votes; one that got none has 0 and may win, as in onnx's reference
// evaluator (not in onnxruntime). Where all votes of two classes are for one of them, it wins above
// one half if no vote is negative, else above zero, and (when it is listed as the first) its score
// makes the other one's: what the standard leaves open is as onnxruntime has it.
Result<Outcome> ImportMlTreeEnsembleClassifier(Emitter& e) {
  const auto known = With({{"class_ids", AttrKind::kInts},
                           {"class_nodeids", AttrKind::kInts},
                           {"class_treeids", AttrKind::kInts},
                           {"class_weights", AttrKind::kFloats},
                           {"class_weights_as_tensor", AttrKind::kTensor},
                           {"classlabels_int64s", AttrKind::kInts},
                           {"classlabels_strings", AttrKind::kStrings}});
  NPUKIT_RETURN_IF_ERROR(CheckMlAttrs(e, known));
  const std::size_t labels = LabelCount(e, "classlabels_int64s");
  if (labels == 0)
    return InvalidArgument(Cat("node ", Printable(e.op.name), ": there are no class labels"));
  NPUKIT_ASSIGN_OR_RETURN(ops::Attrs a, TreeAttrs(e, "class", static_cast<std::int64_t>(labels)));
  NPUKIT_ASSIGN_OR_RETURN(const std::int64_t post, PostTransform(e));
  const bool wants_scores = e.op.outputs.size() > 1 && e.op.outputs[1] != ir::kNoValue;
  const ops::Ints ids = e.op.attrs.IntList("class_ids");
  const std::set<std::int64_t> voted(ids.begin(), ids.end());
  const ir::ValueId x = e.op.inputs[0];
  ir::ValueId index = ir::kNoValue;
  if (labels != 2 || voted.size() != 1) {
    NPUKIT_ASSIGN_OR_RETURN(const ir::ValueId raw, e.Emit(op::tree_ensemble, a, {x}));
    NPUKIT_ASSIGN_OR_RETURN(index, Largest(e, raw));
    a.Set("post_transform", post);
    if (wants_scores)
      NPUKIT_RETURN_IF_ERROR(e.Emit(op::tree_ensemble, std::move(a), {x}, e.op.outputs[1]));
  } else {
    const bool first = *voted.begin() == 0;
    const ops::AttrValue* base = a.Find("base_values");
    const std::size_t bases = base != nullptr ? std::get<ops::Floats>(*base).size() : 0;
    constexpr std::int64_t kLogistic = 2, kProbit = 4;
    if (a.Find("base_values_as_tensor") != nullptr || bases > 1 || (bases == 1 && !first) ||
        (first && post == kProbit)) {
      return Outcome::Foreign("base values or PROBIT with all votes for one of two classes");
    }
    ops::Attrs one = a;
    one.Set("n_targets", std::int64_t{1});
    one.Set("target_ids", ops::Ints(ids.size(), 0));
    const bool negative = AnyNegative(a);
    NPUKIT_ASSIGN_OR_RETURN(const ir::ValueId score,
                            e.Emit(op::tree_ensemble, std::move(one), {x}));
    NPUKIT_ASSIGN_OR_RETURN(index, Above(e, score, negative ? 0.0f : 0.5f));
    if (wants_scores && first) {
      NPUKIT_ASSIGN_OR_RETURN(const ir::ValueId both,
                              TwoColumns(e, score, post == kLogistic, !negative));
      NPUKIT_RETURN_IF_ERROR(e.Emit(op::identity, {}, {both}, e.op.outputs[1]));
    } else if (wants_scores) {
      a.Set("post_transform", post);
      NPUKIT_RETURN_IF_ERROR(e.Emit(op::tree_ensemble, std::move(a), {x}, e.op.outputs[1]));
    }
  }
  NPUKIT_RETURN_IF_ERROR(EmitLabels(e, "classlabels_int64s", index));
  return Outcome::Done();
}

}  // namespace npukit::importers::onnx
