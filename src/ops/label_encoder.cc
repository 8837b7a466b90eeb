#include <unordered_map>

#include "base/text.h"
#include "ops/strings.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::DType;
using tensor::Value;

Value ListValue(const Attrs& attrs, std::string_view floats, std::string_view ints,
                std::string_view strings) {
  if (HasAttr(attrs, floats)) {
    const Floats list = attrs.FloatList(floats);
    return Value::FromVector(DType::kF32, {static_cast<std::int64_t>(list.size())}, list);
  }
  if (HasAttr(attrs, ints)) {
    const Ints list = attrs.IntList(ints);
    return Value::FromVector(DType::kI64, {static_cast<std::int64_t>(list.size())}, list);
  }
  if (!HasAttr(attrs, strings)) return Value();
  const Strings& list = StringList(attrs, strings);
  return Value::Strings({static_cast<std::int64_t>(list.size())}, list);
}

// keys_* or values_*: exactly one of the four.
Result<Value> ListOf(const Attrs& attrs, std::string_view which) {
  const std::string floats = Cat(which, "_floats"), ints = Cat(which, "_int64s"),
                    strings = Cat(which, "_strings"), any = Cat(which, "_tensor");
  int given = 0;
  for (const std::string* name : {&floats, &ints, &strings, &any}) given += HasAttr(attrs, *name);
  if (given != 1) {
    return InvalidArgument(Cat("expected one of ", floats, ", ", ints, ", ", strings, " and ", any,
                               ", found ", given));
  }
  const Value* t = attrs.Tensor(any);
  return t != nullptr ? *t : ListValue(attrs, floats, ints, strings);
}

struct Mapping {
  Value keys, values, otherwise;
};

// Opset 1: strings to their places in a list, and back.
Result<Mapping> Classes(const Attrs& attrs, DType from) {
  const Strings& classes = StringList(attrs, "classes_strings");
  const auto n = static_cast<std::int64_t>(classes.size());
  const Value names = Value::Strings({n}, classes);
  Ints places;
  for (std::int64_t i = 0; i < n; ++i) places.push_back(i);
  const Value numbers = Value::FromVector(DType::kI64, {n}, places);
  if (from == DType::kString)
    return Mapping{names, numbers, Value::ScalarI64(attrs.Int("default_int64", -1))};
  return Mapping{numbers, names,
                 Value::Strings({}, {std::string(attrs.String("default_string", "_Unused"))})};
}

Result<Value> DefaultOf(const Attrs& attrs, DType t) {
  if (const Value* given = attrs.Tensor("default_tensor"); given != nullptr) {
    if (given->dtype() == t && given->count() == 1) return *given;
    return InvalidArgument(Cat("default_tensor is ", given->type().ToString(), ", expected one ",
                               tensor::DTypeName(t)));
  }
  if (t == DType::kString)
    return Value::Strings({}, {std::string(attrs.String("default_string", "_Unused"))});
  NPUKIT_ASSIGN_OR_RETURN(Value v, Value::Allocate(t, {}));
  if (IsRealFloat(t)) {
    Store(v, 0, attrs.Float("default_float", -0.0f));
  } else {
    StoreBits(v, 0, static_cast<std::uint64_t>(attrs.Int("default_int64", -1)));
  }
  return v;
}

bool IsLabel(DType t) {
  return t == DType::kString || t == DType::kI64 || t == DType::kF32 || t == DType::kI32 ||
         t == DType::kI16 || t == DType::kF64;
}

Result<Mapping> MappingOf(const Attrs& attrs, DType from) {
  if (HasAttr(attrs, "classes_strings")) return Classes(attrs, from);
  Mapping m;
  NPUKIT_ASSIGN_OR_RETURN(m.keys, ListOf(attrs, "keys"));
  NPUKIT_ASSIGN_OR_RETURN(m.values, ListOf(attrs, "values"));
  for (const Value* v : {&m.keys, &m.values}) {
    if (!IsLabel(v->dtype()))
      return InvalidArgument(Cat("labels of type ", tensor::DTypeName(v->dtype()),
                                 ", expected string, fp32, fp64, int16, int32 or int64"));
  }
  if (m.keys.count() != m.values.count()) {
    return InvalidArgument(
        Cat("there are ", m.keys.count(), " keys for ", m.values.count(), " values"));
  }
  if (from != DType::kUndefined && from != m.keys.dtype()) {
    return InvalidArgument(Cat("input 0 is ", tensor::DTypeName(from), ", the keys are ",
                               tensor::DTypeName(m.keys.dtype())));
  }
  NPUKIT_ASSIGN_OR_RETURN(m.otherwise, DefaultOf(attrs, m.values.dtype()));
  return m;
}

Status Infer(InferContext& c) {
  const DType from = c.inputs[0].dtype;
  if (HasAttr(c.attrs, "classes_strings")) {
    NPUKIT_RETURN_IF_ERROR(WantOneOf(c, 0, {DType::kString, DType::kI64}));
    c.outputs[0] = tensor::Type::Tensor(from == DType::kUndefined ? from
                                        : from == DType::kString  ? DType::kI64
                                                                  : DType::kString,
                                        c.inputs[0].shape);
    return OkStatus();
  }
  NPUKIT_ASSIGN_OR_RETURN(const Mapping m, MappingOf(c.attrs, from));
  c.outputs[0] = tensor::Type::Tensor(m.values.dtype(), c.inputs[0].shape);
  return OkStatus();
}

// Of equal keys the last counts, as the standard has it.
Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  const Value& x = c.inputs[0];
  NPUKIT_ASSIGN_OR_RETURN(const Mapping m, MappingOf(*c.attrs, x.dtype()));
  std::unordered_map<std::string, std::int64_t> at;
  for (std::int64_t i = 0; i < m.keys.count(); ++i) at.insert_or_assign(KeyOf(m.keys, i), i);
  for (std::int64_t i = 0; i < x.count(); ++i) {
    const auto it = at.find(KeyOf(x, i));
    if (it == at.end()) {
      CopyElement(y, i, m.otherwise, 0);
    } else {
      CopyElement(y, i, m.values, it->second);
    }
  }
  return OkStatus();
}

constexpr AttrDef kAttrs[] = {
    {"classes_strings", AttrKind::kStrings}, {"default_float", AttrKind::kFloat},
    {"default_int64", AttrKind::kInt},       {"default_string", AttrKind::kString},
    {"default_tensor", AttrKind::kTensor},   {"keys_floats", AttrKind::kFloats},
    {"keys_int64s", AttrKind::kInts},        {"keys_strings", AttrKind::kStrings},
    {"keys_tensor", AttrKind::kTensor},      {"values_floats", AttrKind::kFloats},
    {"values_int64s", AttrKind::kInts},      {"values_strings", AttrKind::kStrings},
    {"values_tensor", AttrKind::kTensor}};

}  // namespace

constinit const OpDef op::label_encoder = {
    .name = "label_encoder",
    .summary = "each element replaced by the value of its key, or by a default",
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = CostPerElement10,
    .foreign = {.onnx = "ai.onnx.ml:LabelEncoder"},
};

}  // namespace npukit
