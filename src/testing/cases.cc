#include "testing/cases.h"

#include <algorithm>
#include <cmath>

#include "base/env.h"
#include "base/text.h"
#include "ops/kinds.h"

namespace npukit::testing {

using tensor::Dims;
using tensor::DType;
using tensor::Value;

namespace {

constexpr std::int64_t kMaxElements = 1 << 20;

std::vector<std::string> Words(std::string_view line) {
  std::vector<std::string> words;
  for (std::string& w : Split(line, ' ')) {
    if (!w.empty()) words.push_back(std::move(w));
  }
  return words;
}

// "[1,2,3]" as numbers.
Result<std::vector<double>> List(std::string_view s) {
  if (s.size() < 2 || s.front() != '[' || s.back() != ']')
    return InvalidArgument(Cat("expected a list, found ", s));
  std::vector<double> out;
  s = s.substr(1, s.size() - 2);
  if (s.empty()) return out;
  for (const std::string& part : Split(s, ',')) {
    double x = 0;
    if (!ParseDouble(part, &x)) return InvalidArgument(Cat("expected a number, found ", part));
    out.push_back(x);
  }
  return out;
}

// What a string cannot hold in a line of words: \s a space, \c a comma, \e nothing at all.
Result<std::string> Unescaped(std::string_view s) {
  constexpr std::string_view kLetters = "scnt\\", kMeans = " ,\n\t\\";
  if (s == "\\e") return std::string();
  std::string out;
  for (std::size_t i = 0; i < s.size(); ++i) {
    if (s[i] != '\\') {
      out.push_back(s[i]);
      continue;
    }
    const std::size_t which = ++i < s.size() ? kLetters.find(s[i]) : std::string_view::npos;
    if (which == std::string_view::npos)
      return InvalidArgument(Cat("expected \\s \\c \\n \\t \\\\ or \\e alone, found ", s));
    out.push_back(kMeans[which]);
  }
  return out;
}

Result<std::vector<std::string>> UnescapedAll(std::span<const std::string> words) {
  std::vector<std::string> out;
  for (const std::string& w : words) {
    NPUKIT_ASSIGN_OR_RETURN(std::string s, Unescaped(w));
    out.push_back(std::move(s));
  }
  return out;
}

Result<Value> Tensor(std::span<const std::string> words);

Result<ops::AttrValue> Attribute(const ops::OpDef& op, std::string_view name,
                                 const std::string& text) {
  const auto def = std::find_if(op.attrs.begin(), op.attrs.end(),
                                [&](const ops::AttrDef& d) { return d.name == name; });
  if (def == op.attrs.end()) return InvalidArgument(Cat(op.name, " has no attribute ", name));
  double x = 0;
  switch (def->kind) {
    case ops::AttrKind::kInt: {
      std::int64_t i = 0;
      if (const auto dtype = tensor::DTypeFromName(text))
        return ops::AttrValue(static_cast<std::int64_t>(*dtype));
      if (!ParseInt64(text, &i))
        return InvalidArgument(Cat(name, ": expected an integer, found ", text));
      return ops::AttrValue(i);
    }
    case ops::AttrKind::kFloat:
      if (!ParseDouble(text, &x))
        return InvalidArgument(Cat(name, ": expected a number, found ", text));
      return ops::AttrValue(static_cast<float>(x));
    case ops::AttrKind::kString: {
      NPUKIT_ASSIGN_OR_RETURN(std::string s, Unescaped(text));
      return ops::AttrValue(std::move(s));
    }
    case ops::AttrKind::kStrings: {
      if (text.size() < 2 || text.front() != '[' || text.back() != ']')
        return InvalidArgument(Cat(name, ": expected a list, found ", text));
      if (text.size() == 2) return ops::AttrValue(ops::Strings());
      NPUKIT_ASSIGN_OR_RETURN(ops::Strings list,
                              UnescapedAll(Split(text.substr(1, text.size() - 2), ',')));
      return ops::AttrValue(std::move(list));
    }
    case ops::AttrKind::kTensor: {  // fp32[2]:1,2
      const std::size_t colon = text.find("]:");
      if (colon == std::string::npos)
        return InvalidArgument(Cat(name, ": expected fp32[2]:1,2, found ", text));
      std::vector<std::string> words = {text.substr(0, colon + 1)};
      if (colon + 2 < text.size()) {
        for (std::string& w : Split(text.substr(colon + 2), ',')) words.push_back(std::move(w));
      }
      NPUKIT_ASSIGN_OR_RETURN(Value v, Tensor(words));
      return ops::AttrValue(std::move(v));
    }
    case ops::AttrKind::kInts: {
      NPUKIT_ASSIGN_OR_RETURN(const auto list, List(text));
      return ops::AttrValue(ops::Ints(list.begin(), list.end()));
    }
    case ops::AttrKind::kFloats: {
      NPUKIT_ASSIGN_OR_RETURN(const auto list, List(text));
      return ops::AttrValue(ops::Floats(list.begin(), list.end()));
    }
  }
  return Unsupported(Cat(name, ": a case file cannot hold this kind of attribute"));
}

// "fp32[2,2]" "1" "2" "3" "4"
Result<Value> Tensor(std::span<const std::string> words) {
  if (words.empty()) return InvalidArgument("expected a type such as fp32[2,2]");
  if (words[0] == "-") return Value();
  const std::size_t open = words[0].find('[');
  if (open == std::string::npos)
    return InvalidArgument(Cat("expected a type such as fp32[2,2], found ", words[0]));
  const auto dtype = tensor::DTypeFromName(std::string_view(words[0]).substr(0, open));
  if (!dtype) return InvalidArgument(Cat("no such type: ", words[0]));
  NPUKIT_ASSIGN_OR_RETURN(const auto list, List(std::string_view(words[0]).substr(open)));
  const Dims dims(list.begin(), list.end());
  const auto count = tensor::ElementCount(dims);
  if (!count || *count > kMaxElements) return InvalidArgument(Cat("too many elements: ", words[0]));
  if (static_cast<std::size_t>(*count) != words.size() - 1) {
    return InvalidArgument(Cat(words[0], " has ", *count, " elements, found ", words.size() - 1));
  }
  if (*dtype == DType::kString) {
    NPUKIT_ASSIGN_OR_RETURN(std::vector<std::string> strings, UnescapedAll(words.subspan(1)));
    return Value::Strings(dims, std::move(strings));
  }
  NPUKIT_ASSIGN_OR_RETURN(Value v, Value::Allocate(*dtype, dims));
  for (std::int64_t i = 0; i < *count; ++i) {
    const std::string& w = words[static_cast<std::size_t>(i) + 1];
    std::int64_t n = 0;
    double x = 0;
    if (*dtype == DType::kI64 && ParseInt64(w, &n)) {  // exact beyond 2^53
      v.as_mutable<std::int64_t>()[static_cast<std::size_t>(i)] = n;
    } else if (ParseDouble(w, &x)) {
      tensor::StoreDouble(v, i, x);
    } else {
      return InvalidArgument(Cat("expected a number, found ", w));
    }
  }
  return v;
}

// A tensor as above; "seq(fp32[...]) fp32[1] 7 | fp32[2] 8 9"; "opt(fp32[1]) fp32[1] 7", without a
// value an empty one.
Result<Value> AnyValue(std::span<const std::string> words) {
  if (words.empty() || !(words[0].starts_with("seq(") || words[0].starts_with("opt(")))
    return Tensor(words);
  NPUKIT_ASSIGN_OR_RETURN(const tensor::Type type, ops::ParseTypeText(words[0]));
  words = words.subspan(1);
  if (type.kind == tensor::Type::Kind::kOptional) {
    if (words.empty()) return Value::Optional(*type.element, nullptr);
    NPUKIT_ASSIGN_OR_RETURN(Value item, AnyValue(words));
    return Value::Optional(*type.element, std::make_shared<Value>(std::move(item)));
  }
  std::vector<Value> items;
  while (!words.empty()) {
    const auto bar = std::find(words.begin(), words.end(), "|");
    const auto length = static_cast<std::size_t>(bar - words.begin());
    NPUKIT_ASSIGN_OR_RETURN(Value item, Tensor(words.first(length)));
    items.push_back(std::move(item));
    words = words.subspan(std::min(length + 1, words.size()));
  }
  return Value::Sequence(*type.element, std::move(items));
}

Tolerance DefaultTolerance(const OpCase& c) {
  if (c.outputs.empty()) return {};
  const bool moves = c.op->loop == ops::LoopShape::kMove || c.op->loop == ops::LoopShape::kShape ||
                     c.op == &op::identity || c.op == &op::cast;
  if (moves) return {};
  switch (c.outputs[0].dtype()) {
    case DType::kF32:
      return {1e-6, 1e-5};
    case DType::kF16:
      return {1e-3, 1e-3};
    case DType::kBF16:
      return {1e-2, 1e-2};
    case DType::kF64:
      return {1e-12, 1e-12};
    default:
      return {};
  }
}

class Parser {
 public:
  explicit Parser(const ops::OpDef& op) : op_(op) {}

  Status Line(std::string_view line) {
    const std::size_t space = line.find(' ');
    const std::string_view key = line.substr(0, space);
    const std::string_view rest =
        space == std::string_view::npos ? std::string_view() : line.substr(space + 1);
    if (key.empty()) {
      open_ = false;
      return OkStatus();
    }
    if (key == "case") {
      cases.push_back(OpCase{.name = std::string(rest), .op = &op_});
      open_ = true;
      return OkStatus();
    }
    if (!open_) return InvalidArgument(Cat("expected a case, found ", key));
    OpCase& c = cases.back();
    const std::vector<std::string> words = Words(rest);
    if (key == "expected:") {
      c.expected_from = rest;
    } else if (key == "attr") {
      return Attrs(op_, words, &c.attrs);
    } else if (key == "step") {
      return Step(words, &c);
    } else if (key == "in" || key == "out") {
      NPUKIT_ASSIGN_OR_RETURN(Value v, AnyValue(words));
      (key == "in" ? c.inputs : c.outputs).push_back(std::move(v));
    } else if (key == "refused") {
      c.refused = rest;
    } else if (key == "within") {
      if (words.size() != 2 || !ParseDouble(words[0], &c.tolerance.absolute) ||
          !ParseDouble(words[1], &c.tolerance.relative)) {
        return InvalidArgument("expected two numbers after within");
      }
      stated_.push_back(cases.size() - 1);
    } else {
      return InvalidArgument(Cat("no such line: ", key));
    }
    return OkStatus();
  }

  Status Finish() {
    for (std::size_t i = 0; i < cases.size(); ++i) {
      OpCase& c = cases[i];
      if (c.expected_from.empty())
        return InvalidArgument(Cat("case ", c.name, " does not say where its values are from"));
      if (c.outputs.empty() == c.refused.empty()) {
        return InvalidArgument(Cat("case ", c.name, " needs either results or refused"));
      }
      if (std::find(stated_.begin(), stated_.end(), i) == stated_.end())
        c.tolerance = DefaultTolerance(c);
    }
    return OkStatus();
  }

  std::vector<OpCase> cases;

 private:
  static Status Attrs(const ops::OpDef& op, std::span<const std::string> words, ops::Attrs* out) {
    for (const std::string& w : words) {
      const std::size_t equals = w.find('=');
      if (equals == std::string::npos)
        return InvalidArgument(Cat("expected name=value, found ", w));
      NPUKIT_ASSIGN_OR_RETURN(auto value, Attribute(op, w.substr(0, equals), w.substr(equals + 1)));
      out->Set(w.substr(0, equals), std::move(value));
    }
    return OkStatus();
  }

  static Status Step(std::vector<std::string> words, OpCase* c) {
    if (words.empty()) return InvalidArgument("expected an operator after step");
    ops::EpilogueStep step;
    step.op = ops::FindOp(words[0]);
    if (step.op == nullptr) return InvalidArgument(Cat("no such operator: ", words[0]));
    words.erase(words.begin());
    std::erase_if(words, [&](const std::string& w) {
      if (w == "swapped=1") return step.swapped = true;
      std::int64_t n = 0;
      const bool operand =
          w.starts_with("operand=") && ParseInt64(std::string_view(w).substr(8), &n);
      if (operand) step.operand = static_cast<int>(n);
      return operand;
    });
    NPUKIT_RETURN_IF_ERROR(Attrs(*step.op, words, &step.attrs));
    c->epilogue.push_back(std::move(step));
    return OkStatus();
  }

  const ops::OpDef& op_;
  bool open_ = false;
  std::vector<std::size_t> stated_;  // cases with a tolerance of their own
};

// What a sequence or an optional holds.
std::vector<Value> Items(const Value& v) {
  if (!v.is_optional()) return v.items();
  return v.optional_item() != nullptr ? std::vector<Value>{*v.optional_item()}
                                      : std::vector<Value>();
}

bool Close(double got, double expected, Tolerance t) {
  if (std::isnan(expected) || std::isnan(got)) return std::isnan(expected) && std::isnan(got);
  if (std::isinf(expected) || std::isinf(got)) return got == expected;
  return std::fabs(got - expected) <= t.absolute + t.relative * std::fabs(expected);
}

}  // namespace

Result<std::vector<OpCase>> ParseCases(const ops::OpDef& op, std::string_view text,
                                       std::string_view file) {
  Parser parser(op);
  int number = 0;
  for (const std::string& line : Split(text, '\n')) {
    ++number;
    if (line.starts_with("#")) continue;
    NPUKIT_RETURN_IF_ERROR(parser.Line(line).WithContext(Cat(file, ":", number)));
  }
  NPUKIT_RETURN_IF_ERROR(parser.Finish().WithContext(file));
  return std::move(parser.cases);
}

Result<std::vector<OpCase>> ReadCases(const ops::OpDef& op, const std::string& folder) {
  const std::string path = Cat(folder, "/", op.name, ".case");
  NPUKIT_ASSIGN_OR_RETURN(const auto bytes, RealEnv().ReadFile(path, std::uint64_t{64} << 20));
  return ParseCases(op, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
}

Status SameValue(const Value& got, const Value& expected, Tolerance tolerance) {
  if (got.type() != expected.type()) {
    return InvalidArgument(
        Cat("expected ", expected.type().ToString(), ", found ", got.type().ToString()));
  }
  if (!got.is_tensor()) {
    const std::vector<Value> a = Items(got);
    const std::vector<Value> b = Items(expected);
    if (a.size() != b.size())
      return InvalidArgument(Cat("expected ", b.size(), " items, found ", a.size()));
    for (std::size_t i = 0; i < a.size(); ++i)
      NPUKIT_RETURN_IF_ERROR(SameValue(a[i], b[i], tolerance).WithContext(Cat("item ", i)));
    return OkStatus();
  }
  if (got.dtype() == DType::kString) {
    return got.strings() == expected.strings() ? OkStatus() : InvalidArgument("the strings differ");
  }
  std::int64_t wrong = 0;
  std::string first;
  for (std::int64_t i = 0; i < got.count(); ++i) {
    const bool exact_int = got.dtype() == DType::kI64;
    const bool same = exact_int
                          ? tensor::ElementAsInt64(got, i) == tensor::ElementAsInt64(expected, i)
                          : Close(tensor::ElementAsDouble(got, i),
                                  tensor::ElementAsDouble(expected, i), tolerance);
    if (!same && wrong++ == 0) {
      first = Cat("element ", i, ": expected ", tensor::ElementAsDouble(expected, i), ", found ",
                  tensor::ElementAsDouble(got, i));
    }
  }
  if (wrong == 0) return OkStatus();
  return InvalidArgument(Cat(first, " (", wrong, " of ", got.count(), " differ)"));
}

Result<Value> Results::Output(int i, DType t, const Dims& dims) {
  NPUKIT_ASSIGN_OR_RETURN(Value v, Value::Allocate(t, dims));
  NPUKIT_RETURN_IF_ERROR(SetOutput(i, v));
  return v;
}

Status Results::SetOutput(int i, Value v) {
  if (values.size() <= static_cast<std::size_t>(i)) values.resize(static_cast<std::size_t>(i) + 1);
  values[static_cast<std::size_t>(i)] = std::move(v);
  return OkStatus();
}

}  // namespace npukit::testing
