#include "ops/strings.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/text.h"

namespace npukit::ops {

using tensor::DType;
using tensor::Value;

Status WantOneOf(const InferContext& c, std::size_t input, std::initializer_list<DType> types) {
  if (!Has(c, input)) return OkStatus();
  const DType t = c.inputs[input].dtype;
  if (t == DType::kUndefined || std::find(types.begin(), types.end(), t) != types.end())
    return OkStatus();
  std::string expected;
  for (const DType e : types) expected += Cat(expected.empty() ? "" : " or ", DTypeName(e));
  return InvalidArgument(
      Cat("input ", input, " is ", tensor::DTypeName(t), ", expected ", expected));
}

Status WantString(const InferContext& c, std::size_t input) {
  return WantOneOf(c, input, {DType::kString});
}

Status WantMlNumber(const InferContext& c, std::size_t input) {
  return WantOneOf(c, input, {DType::kF32, DType::kF64, DType::kI64, DType::kI32});
}

const Strings& StringList(const Attrs& attrs, std::string_view name) {
  static const Strings* const none = new Strings;
  const AttrValue* v = attrs.Find(name);
  const Strings* list = v == nullptr ? nullptr : std::get_if<Strings>(v);
  return list == nullptr ? *none : *list;
}

bool HasAttr(const Attrs& attrs, std::string_view name) { return attrs.Find(name) != nullptr; }

Result<Value> MakeStrings(EvalContext& c, int i, const tensor::Dims& dims) {
  const auto count = tensor::ElementCount(dims);
  if (!count ||
      static_cast<double>(*count) * sizeof(std::string) > double{tensor::kMaxValueBytes}) {
    return ResourceExhausted(Cat("a result of ", JoinInts(dims, "x"), " strings is too large"));
  }
  NPUKIT_ASSIGN_OR_RETURN(Value v, Value::Allocate(DType::kString, dims));
  NPUKIT_RETURN_IF_ERROR(c.SetOutput(i, v));
  return v;
}

// Far more than a prompt or a vocabulary: text that doubles itself again and again must end before
// memory does, and what loops join is alive several times over.
constexpr std::int64_t kMaxTextBytes = std::int64_t{32} << 20;

Status CheckTextBytes(double total) {
  if (total <= double{kMaxTextBytes}) return OkStatus();
  return ResourceExhausted(Cat("the result would hold ", total, " bytes of text, expected at most ",
                               kMaxTextBytes, "; split the text into several tensors"));
}

std::string KeyOf(const Value& v, std::int64_t i) {
  if (v.dtype() == DType::kString) return v.strings()[static_cast<std::size_t>(i)];
  std::uint64_t bits = 0;
  if (tensor::IsFloat(v.dtype())) {
    double x = Load(v, i);
    if (std::isnan(x)) x = std::numeric_limits<double>::quiet_NaN();
    bits = std::bit_cast<std::uint64_t>(x == 0 ? 0.0 : x);
  } else {
    bits = LoadBits(v, i);
  }
  std::string key(sizeof bits, '\0');
  std::memcpy(key.data(), &bits, sizeof bits);
  return key;
}

}  // namespace npukit::ops
