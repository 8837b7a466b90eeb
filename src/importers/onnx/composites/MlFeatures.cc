// Operators of ai.onnx.ml that prepare features.
#include <cmath>

#include "base/text.h"
#include "importers/onnx/ml.h"

namespace npukit::importers::onnx {

using ops::AttrKind;
using tensor::DType;
using tensor::Value;

// (x - offset) * scale
Result<Outcome> ImportMlScaler(Emitter& e) {
  constexpr ops::AttrDef kAttrs[] = {{"offset", AttrKind::kFloats}, {"scale", AttrKind::kFloats}};
  NPUKIT_RETURN_IF_ERROR(CheckMlAttrs(e, kAttrs));
  const ops::Floats offset = e.op.attrs.FloatList("offset"), scale = e.op.attrs.FloatList("scale");
  if (scale.empty() || offset.size() != scale.size()) {
    return InvalidArgument(Cat("node ", Printable(e.op.name), ": there are ", scale.size(),
                               " numbers in scale and ", offset.size(), " in offset"));
  }
  const DType t = e.Type(0).dtype == DType::kF64 ? DType::kF64 : DType::kF32;
  NPUKIT_ASSIGN_OR_RETURN(ir::ValueId x, CastTo(e, e.op.inputs[0], t));
  NPUKIT_ASSIGN_OR_RETURN(x, e.Emit(op::sub, {}, {x, Constants(e, offset, t)}));
  NPUKIT_ASSIGN_OR_RETURN(x, e.Emit(op::mul, {}, {x, Constants(e, scale, t)}));
  ops::Attrs to;
  to.Set("to", static_cast<std::int64_t>(DType::kF32));
  NPUKIT_RETURN_IF_ERROR(e.Emit(op::cast, std::move(to), {x}, e.op.outputs[0]));
  return Outcome::Done();
}

// Each row by its largest element, by its sum, or by its length; a row whose divisor is 0 stays.
Result<Outcome> ImportMlNormalizer(Emitter& e) {
  constexpr ops::AttrDef kAttrs[] = {{"norm", AttrKind::kString}};
  NPUKIT_RETURN_IF_ERROR(CheckMlAttrs(e, kAttrs));
  const std::string_view norm = e.op.attrs.String("norm", "MAX");
  NPUKIT_ASSIGN_OR_RETURN(const ir::ValueId x, CastTo(e, e.op.inputs[0], DType::kF32));
  ops::Attrs last;
  last.Set("axes", ops::Ints{-1});
  ir::ValueId by = ir::kNoValue;
  if (norm == "MAX") {
    NPUKIT_ASSIGN_OR_RETURN(by, e.Emit(op::reduce_max, last, {x}));
  } else if (norm == "L1") {
    NPUKIT_ASSIGN_OR_RETURN(const ir::ValueId a, e.Emit(op::abs, {}, {x}));
    NPUKIT_ASSIGN_OR_RETURN(by, e.Emit(op::reduce_sum, last, {a}));
  } else if (norm == "L2") {
    NPUKIT_ASSIGN_OR_RETURN(const ir::ValueId a, e.Emit(op::mul, {}, {x, x}));
    NPUKIT_ASSIGN_OR_RETURN(const ir::ValueId sum, e.Emit(op::reduce_sum, last, {a}));
    NPUKIT_ASSIGN_OR_RETURN(by, e.Emit(op::sqrt, {}, {sum}));
  } else {
    return InvalidArgument(Cat("node ", Printable(e.op.name), ": norm is ", Printable(norm),
                               ", expected MAX, L1 or L2"));
  }
  NPUKIT_ASSIGN_OR_RETURN(const ir::ValueId none,
                          e.Emit(op::equal, {}, {by, e.Add(Value::Scalar(0))}));
  NPUKIT_ASSIGN_OR_RETURN(by, e.Emit(op::where, {}, {none, e.Add(Value::Scalar(1)), by}));
  NPUKIT_RETURN_IF_ERROR(e.Emit(op::div, {}, {x, by}, e.op.outputs[0]));
  return Outcome::Done();
}

// Elements equal to one value (NaN too) become another, the same for all or one for each feature.
Result<Outcome> ImportMlImputer(Emitter& e) {
  constexpr ops::AttrDef kAttrs[] = {{"imputed_value_floats", AttrKind::kFloats},
                                     {"imputed_value_int64s", AttrKind::kInts},
                                     {"replaced_value_float", AttrKind::kFloat},
                                     {"replaced_value_int64", AttrKind::kInt}};
  NPUKIT_RETURN_IF_ERROR(CheckMlAttrs(e, kAttrs));
  const DType t = e.Type(0).dtype;
  if (t != DType::kF32 && t != DType::kF64 && t != DType::kI64)
    return Outcome::Foreign(Cat("its input is ", tensor::DTypeName(t)));
  const ops::Floats floats = e.op.attrs.FloatList("imputed_value_floats");
  const ops::Ints ints = e.op.attrs.IntList("imputed_value_int64s");
  if (t == DType::kI64 ? ints.empty() : floats.empty())
    return InvalidArgument(
        Cat("node ", Printable(e.op.name), ": there are no imputed values of the input's kind"));
  const ir::ValueId x = e.op.inputs[0];
  const float replaced = e.op.attrs.Float("replaced_value_float");
  ir::ValueId missing = ir::kNoValue, values = ir::kNoValue;
  if (t == DType::kI64) {
    values = ConstantInts(e, ints, {static_cast<std::int64_t>(ints.size())});
    const ir::ValueId key = e.Add(Value::ScalarI64(e.op.attrs.Int("replaced_value_int64")));
    NPUKIT_ASSIGN_OR_RETURN(missing, e.Emit(op::equal, {}, {x, key}));
  } else {
    values = Constants(e, floats, t);
    if (std::isnan(replaced)) {
      NPUKIT_ASSIGN_OR_RETURN(missing, e.Emit(op::is_nan, {}, {x}));
    } else {
      NPUKIT_ASSIGN_OR_RETURN(missing, e.Emit(op::equal, {}, {x, Constants(e, {replaced}, t)}));
    }
  }
  NPUKIT_RETURN_IF_ERROR(e.Emit(op::where, {}, {missing, values, x}, e.op.outputs[0]));
  return Outcome::Done();
}

// Where each element is in the list, as 1 among zeros in a dimension of its own.
Result<Outcome> ImportMlOneHotEncoder(Emitter& e) {
  constexpr ops::AttrDef kAttrs[] = {{"cats_int64s", AttrKind::kInts},
                                     {"cats_strings", AttrKind::kStrings},
                                     {"zeros", AttrKind::kInt}};
  NPUKIT_RETURN_IF_ERROR(CheckMlAttrs(e, kAttrs));
  if (e.op.attrs.Int("zeros", 1) == 0) {
    return Outcome::Foreign("zeros is 0: it would fail on categories that it does not know",
                            "set zeros to 1");
  }
  const ops::AttrValue* names = e.op.attrs.Find("cats_strings");
  const ops::Ints numbers = e.op.attrs.IntList("cats_int64s");
  const std::size_t n = names != nullptr ? std::get<ops::Strings>(*names).size() : numbers.size();
  ops::Ints places;
  for (std::size_t i = 0; i < n; ++i) places.push_back(static_cast<std::int64_t>(i));
  ops::Attrs encoder;
  encoder.Set("values_int64s", places);
  ir::ValueId x = e.op.inputs[0];
  if (names != nullptr) {
    encoder.Set("keys_strings", *names);
  } else {
    encoder.Set("keys_int64s", numbers);
    NPUKIT_ASSIGN_OR_RETURN(x, CastTo(e, x, DType::kI64));
  }
  NPUKIT_ASSIGN_OR_RETURN(x, e.Emit(op::label_encoder, std::move(encoder), {x}));
  ops::Attrs last;
  last.Set("axes", ops::Ints{-1});
  NPUKIT_ASSIGN_OR_RETURN(x, e.Emit(op::unsqueeze, std::move(last), {x}));
  const ir::ValueId all = ConstantInts(e, places, {static_cast<std::int64_t>(n)});
  NPUKIT_ASSIGN_OR_RETURN(x, e.Emit(op::equal, {}, {x, all}));
  ops::Attrs to;
  to.Set("to", static_cast<std::int64_t>(DType::kF32));
  NPUKIT_RETURN_IF_ERROR(e.Emit(op::cast, std::move(to), {x}, e.op.outputs[0]));
  return Outcome::Done();
}

// Strings to integers or back, by which way the input goes.
Result<Outcome> ImportMlCategoryMapper(Emitter& e) {
  constexpr ops::AttrDef kAttrs[] = {{"cats_int64s", AttrKind::kInts},
                                     {"cats_strings", AttrKind::kStrings},
                                     {"default_int64", AttrKind::kInt},
                                     {"default_string", AttrKind::kString}};
  NPUKIT_RETURN_IF_ERROR(CheckMlAttrs(e, kAttrs));
  const ops::AttrValue* names = e.op.attrs.Find("cats_strings");
  const ops::AttrValue* numbers = e.op.attrs.Find("cats_int64s");
  const DType t = e.Type(0).dtype;
  if (names == nullptr || numbers == nullptr) {
    return InvalidArgument(
        Cat("node ", Printable(e.op.name), ": CategoryMapper needs cats_strings and cats_int64s"));
  }
  if (t != DType::kString && t != DType::kI64)
    return Outcome::Foreign(Cat("its input is ", tensor::DTypeName(t)));
  ops::Attrs encoder = Only(e.op.attrs, {"default_int64", "default_string"});
  encoder.Set(t == DType::kString ? "keys_strings" : "values_strings", *names);
  encoder.Set(t == DType::kString ? "values_int64s" : "keys_int64s", *numbers);
  NPUKIT_RETURN_IF_ERROR(
      e.Emit(op::label_encoder, std::move(encoder), {e.op.inputs[0]}, e.op.outputs[0]));
  return Outcome::Done();
}

// All inputs as fp32, side by side.
Result<Outcome> ImportMlFeatureVectorizer(Emitter& e) {
  constexpr ops::AttrDef kAttrs[] = {{"inputdimensions", AttrKind::kInts}};
  NPUKIT_RETURN_IF_ERROR(CheckMlAttrs(e, kAttrs));
  const ops::Ints sizes = e.op.attrs.IntList("inputdimensions");
  std::vector<ir::ValueId> parts;
  for (std::size_t i = 0; i < e.op.inputs.size(); ++i) {
    if (!e.has(i))
      return InvalidArgument(Cat("node ", Printable(e.op.name), ": input ", i, " is absent"));
    const auto rank = e.Rank(i);
    const tensor::Type type = e.Type(i);
    if (!rank || *rank < 1 || *rank > 2 || i >= sizes.size() ||
        type.shape->dims.back().value != sizes[i]) {
      return Outcome::Foreign(
          Cat("input ", i, " is ", type.ToString(), ", not rows as long as inputdimensions says"));
    }
    NPUKIT_ASSIGN_OR_RETURN(ir::ValueId x, CastTo(e, e.op.inputs[i], DType::kF32));
    if (*rank == 1) {
      ops::Attrs first;
      first.Set("axes", ops::Ints{0});
      NPUKIT_ASSIGN_OR_RETURN(x, e.Emit(op::unsqueeze, std::move(first), {x}));
    }
    parts.push_back(x);
  }
  ops::Attrs axis;
  axis.Set("axis", std::int64_t{1});
  NPUKIT_RETURN_IF_ERROR(e.Emit(op::concat, std::move(axis), std::move(parts), e.op.outputs[0]));
  return Outcome::Done();
}

}  // namespace npukit::importers::onnx
