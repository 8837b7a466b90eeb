#include "importers/onnx/ml.h"

#include <algorithm>

#include "base/text.h"

namespace npukit::importers::onnx {

using tensor::DType;
using tensor::Value;

Status CheckMlAttrs(const Emitter& e, std::span<const ops::AttrDef> known) {
  for (const auto& [name, value] : e.op.attrs.all()) {
    const auto at = std::find_if(known.begin(), known.end(),
                                 [&](const ops::AttrDef& d) { return d.name == name; });
    if (at != known.end() && value.index() == static_cast<std::size_t>(at->kind)) continue;
    return InvalidArgument(Cat("node ", Printable(e.op.name), ": attribute ", Printable(name),
                               at == known.end() ? " is none of " : " is of another kind than in ",
                               e.op.op));
  }
  if (e.has(0)) return OkStatus();
  return InvalidArgument(Cat("node ", Printable(e.op.name), ": ", e.op.op, " needs an input"));
}

Result<ir::ValueId> CastTo(Emitter& e, ir::ValueId id, DType t) {
  ops::Attrs attrs;
  attrs.Set("to", static_cast<std::int64_t>(t));
  return e.Emit(op::cast, std::move(attrs), {id});
}

ir::ValueId Constants(Emitter& e, const ops::Floats& list, DType t) {
  const auto n = static_cast<std::int64_t>(list.size());
  if (t == DType::kF64)
    return e.Add(Value::FromVector(t, {n}, std::vector<double>(list.begin(), list.end())));
  return e.Add(Value::FromVector(DType::kF32, {n}, list));
}

ir::ValueId ConstantInts(Emitter& e, const ops::Ints& list, tensor::Dims dims) {
  return e.Add(Value::FromVector(DType::kI64, std::move(dims), list));
}

Result<ir::ValueId> FloatRows(Emitter& e) {
  const auto rank = e.Rank(0);
  if (!rank) return ir::kNoValue;
  NPUKIT_ASSIGN_OR_RETURN(const ir::ValueId x, CastTo(e, e.op.inputs[0], DType::kF32));
  if (*rank == 2) return x;
  if (*rank == 1) {
    ops::Attrs attrs;
    attrs.Set("axes", ops::Ints{0});
    return e.Emit(op::unsqueeze, std::move(attrs), {x});
  }
  return InvalidArgument(Cat("node ", Printable(e.op.name), ": input 0 is ", e.Type(0).ToString(),
                             ", expected [N,F] or [F]"));
}

std::size_t LabelCount(const Emitter& e, std::string_view ints) {
  const ops::AttrValue* names = e.op.attrs.Find("classlabels_strings");
  if (names != nullptr) return std::get<ops::Strings>(*names).size();
  return e.op.attrs.IntList(ints).size();
}

Status EmitLabels(Emitter& e, std::string_view ints, ir::ValueId index) {
  const ops::AttrValue* names = e.op.attrs.Find("classlabels_strings");
  const auto n = static_cast<std::int64_t>(LabelCount(e, ints));
  const ir::ValueId labels = names != nullptr
                                 ? e.Add(Value::Strings({n}, std::get<ops::Strings>(*names)))
                                 : ConstantInts(e, e.op.attrs.IntList(ints), {n});
  return e.Emit(op::gather, {}, {labels, index}, e.op.outputs[0]);
}

Result<ir::ValueId> TwoColumns(Emitter& e, ir::ValueId score, bool logistic, bool probability) {
  ir::ValueId other = ir::kNoValue;
  if (probability && !logistic) {
    NPUKIT_ASSIGN_OR_RETURN(other, e.Emit(op::sub, {}, {e.Add(Value::Scalar(1)), score}));
  } else {
    NPUKIT_ASSIGN_OR_RETURN(other, e.Emit(op::neg, {}, {score}));
  }
  ops::Attrs axis;
  axis.Set("axis", std::int64_t{1});
  NPUKIT_ASSIGN_OR_RETURN(ir::ValueId both, e.Emit(op::concat, std::move(axis), {other, score}));
  if (logistic) return e.Emit(op::sigmoid, {}, {both});
  return both;
}

Result<ir::ValueId> Above(Emitter& e, ir::ValueId score, float threshold) {
  NPUKIT_ASSIGN_OR_RETURN(ir::ValueId above,
                          e.Emit(op::greater, {}, {score, e.Add(Value::Scalar(threshold))}));
  NPUKIT_ASSIGN_OR_RETURN(above, CastTo(e, above, DType::kI64));
  ops::Attrs axes;
  axes.Set("axes", ops::Ints{1});
  return e.Emit(op::squeeze, std::move(axes), {above});
}

Result<ir::ValueId> Largest(Emitter& e, ir::ValueId scores) {
  ops::Attrs attrs;
  attrs.Set("axis", std::int64_t{1});
  attrs.Set("keepdims", std::int64_t{0});
  return e.Emit(op::arg_max, std::move(attrs), {scores});
}

}  // namespace npukit::importers::onnx
