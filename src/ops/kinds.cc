#include "ops/kinds.h"

#include "base/text.h"
#include "ops/rules.h"

namespace npukit::ops {

using tensor::Dim;
using tensor::DType;
using tensor::Type;

namespace {

constexpr int kMaxTypeNesting = 64;
constexpr std::size_t kMaxTypeRank = 64;

// Takes `word` from the front of the text.
bool Take(std::string_view* text, std::string_view word) {
  if (!text->starts_with(word)) return false;
  text->remove_prefix(word.size());
  return true;
}

Status NoType(std::string_view at) {
  return InvalidArgument(
      Cat("expected a type such as fp32[2,?] or seq(fp32[...]), found ", Printable(at, 40)));
}

Result<Type> ParseTensor(std::string_view* text) {
  const std::size_t open = text->find('[');
  const std::size_t close = text->find(']');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open)
    return NoType(*text);
  const std::string_view word = text->substr(0, open);
  const std::string sizes(text->substr(open + 1, close - open - 1));
  const auto dtype = tensor::DTypeFromName(word);
  if (!dtype && word != tensor::DTypeName(DType::kUndefined)) return NoType(*text);
  text->remove_prefix(close + 1);
  Type t = Type::Tensor(dtype.value_or(DType::kUndefined), std::nullopt);
  if (sizes == "...") return t;
  t.shape.emplace();
  if (sizes.empty()) return t;
  for (const std::string& s : Split(sizes, ',')) {
    std::int64_t n = -1;
    if (ParseInt64(s, &n) && n < 0) return NoType(s);
    if (t.shape->rank() == kMaxTypeRank) return NoType(s);
    t.shape->dims.push_back(n < 0 ? Dim{} : Dim::Of(n));
  }
  return t;
}

Result<Type> Parse(std::string_view* text, int nesting) {
  if (nesting > kMaxTypeNesting)
    return ResourceExhausted(Cat("a type nested deeper than ", kMaxTypeNesting));
  const bool sequence = Take(text, "seq(");
  if (!sequence && !Take(text, "opt(")) return ParseTensor(text);
  const auto element = Parse(text, nesting + 1);
  if (!element.ok()) return element;
  if (!Take(text, ")")) return NoType(*text);
  return sequence ? Type::Sequence(*element) : Type::Optional(*element);
}

}  // namespace

Type OfAnyShape(const Type& t) {
  if (t.is_tensor()) return Type::Tensor(t.dtype, std::nullopt);
  if (!t.element) return t;
  return t.kind == Type::Kind::kSequence ? Type::Sequence(OfAnyShape(*t.element))
                                         : Type::Optional(OfAnyShape(*t.element));
}

Result<Type> JoinTypes(const Type& a, const Type& b) {
  if (a == b) return a;
  // Nothing is known of one of them: it may have any shape.
  if (a == Type{} || b == Type{}) return OfAnyShape(a == Type{} ? b : a);
  const auto differ = [&] {
    return InvalidArgument(Cat("expected one type, found ", a.ToString(), " and ", b.ToString()));
  };
  if (a.kind != b.kind) {
    // A value stands for a full optional: a loop may begin with none and go on with the value.
    const bool first = a.kind == Type::Kind::kOptional;
    if (!first && b.kind != Type::Kind::kOptional) return differ();
    const Type& optional = first ? a : b;
    auto element = JoinTypes(optional.element ? *optional.element : Type{}, first ? b : a);
    return element.ok() ? Result<Type>(Type::Optional(*element)) : differ();
  }
  if (!a.is_tensor()) {
    if (!a.element || !b.element) return OfAnyShape(a.element ? a : b);
    auto element = JoinTypes(*a.element, *b.element);
    if (!element.ok()) return differ();
    return a.kind == Type::Kind::kSequence ? Type::Sequence(std::move(element).value())
                                           : Type::Optional(std::move(element).value());
  }
  const DType dtype = a.dtype == DType::kUndefined ? b.dtype : a.dtype;
  if (b.dtype != DType::kUndefined && b.dtype != dtype) return differ();
  if (!a.shape || !b.shape || a.shape->rank() != b.shape->rank())
    return Type::Tensor(dtype, std::nullopt);
  tensor::Shape shape = *a.shape;
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    if (!(shape.dims[i] == b.shape->dims[i])) shape.dims[i] = Dim{};
  }
  return Type::Tensor(dtype, std::move(shape));
}

std::string TypeText(const Type& t) {
  if (!t.is_tensor()) {
    return Cat(t.kind == Type::Kind::kSequence ? "seq(" : "opt(",
               t.element ? TypeText(*t.element) : TypeText(Type{}), ")");
  }
  std::string s(tensor::DTypeName(t.dtype));
  if (!t.shape) return s + "[...]";
  s += '[';
  for (std::size_t i = 0; i < t.shape->rank(); ++i) {
    const Dim& d = t.shape->dims[i];
    s += Cat(i ? "," : "", d.known() ? Cat(d.value) : std::string("?"));
  }
  return s + ']';
}

Result<Type> ParseTypeText(std::string_view text) {
  auto t = Parse(&text, 0);
  if (t.ok() && !text.empty()) return NoType(text);
  return t;
}

Status WantSequence(const InferContext& c, std::size_t input) {
  const Type& t = c.inputs[input];
  if (t.kind == Type::Kind::kSequence || t == Type{}) return OkStatus();
  return InvalidArgument(Cat("input ", input, " is ", t.ToString(), ", expected a sequence"));
}

Type ElementType(const InferContext& c, std::size_t input) {
  const Type& t = c.inputs[input];
  return t.kind == Type::Kind::kSequence && t.element ? *t.element : Type{};
}

Status WantPosition(const InferContext& c, std::size_t input) {
  if (input >= c.inputs.size()) return OkStatus();
  const Type& t = c.inputs[input];
  bool fits = t.is_tensor() &&
              (t.dtype == DType::kUndefined || t.dtype == DType::kI64 || t.dtype == DType::kI32);
  if (fits && t.is_static()) fits = tensor::ElementCount(t.dims()) == 1;
  if (fits) return OkStatus();
  return InvalidArgument(
      Cat("input ", input, " is ", t.ToString(), ", expected a position: one int64 or int32"));
}

Result<std::size_t> Position(const tensor::Value& v, std::size_t end) {
  const std::int64_t given = tensor::ElementAsInt64(v, 0);
  const auto n = static_cast<std::int64_t>(end);
  if (given < -n || given >= n)
    return InvalidArgument(Cat("position ", given, " is outside ", end, " places"));
  return static_cast<std::size_t>(given < 0 ? given + n : given);
}

Result<Type> TypeOfResult(EvalContext& c, InferFn infer) {
  const KnownInputs known(c.inputs);
  Type out;
  InferContext context{known.types, known.constants, *c.attrs, {&out, 1}};
  NPUKIT_RETURN_IF_ERROR(infer(context));
  return out;
}

}  // namespace npukit::ops
