// A graph as text; the grammar is in README.md. Values are written %name where the name is plain
// and unique, else %vN with the name beside it.
#include <charconv>
#include <map>

#include "base/hash.h"
#include "base/text.h"
#include "ir/node.h"
#include "ir/text_lexer.h"

namespace npukit::ir {
namespace {

constexpr std::int64_t kMaxPrintedElements = 64;

template <class F>
std::string FloatText(F v) {
  char buffer[64];
  const auto r = std::to_chars(buffer, buffer + sizeof buffer, v);
  std::string s(buffer, r.ptr);
  // A float stays recognisable as one.
  return s.find_first_of(".einf") == std::string::npos ? s + ".0" : s;
}

std::string DimText(const tensor::Dim& d) {
  if (d.known()) return Cat(d.value);
  if (d.symbol.empty()) return "?";
  return IsPlainWord(d.symbol) ? d.symbol : Quote(d.symbol);
}

std::string TypeText(const tensor::Type& t) {
  if (t.kind == tensor::Type::Kind::kSequence)
    return Cat("seq(", t.element ? TypeText(*t.element) : "undefined[...]", ")");
  if (t.kind == tensor::Type::Kind::kOptional)
    return Cat("opt(", t.element ? TypeText(*t.element) : "undefined[...]", ")");
  std::string s(tensor::DTypeName(t.dtype));
  if (!t.shape) return s + "[...]";
  s += '[';
  for (std::size_t i = 0; i < t.shape->rank(); ++i)
    s += (i ? ", " : "") + DimText(t.shape->dims[i]);
  return s + ']';
}

std::string ElementText(const tensor::Value& v, std::int64_t i) {
  switch (v.dtype()) {
    case tensor::DType::kString:
      return Quote(v.strings()[static_cast<std::size_t>(i)]);
    case tensor::DType::kF32:
      return FloatText(v.as<float>()[static_cast<std::size_t>(i)]);
    case tensor::DType::kU64:
      return Cat(v.as<std::uint64_t>()[static_cast<std::size_t>(i)]);
    default:
      break;
  }
  if (tensor::IsFloat(v.dtype())) return FloatText(tensor::ElementAsDouble(v, i));
  return Cat(tensor::ElementAsInt64(v, i));
}

// "[1, 2, 3]" in row-major order, or "hash 0123..." for what is big and for complex numbers, which
// have no text.
std::string DataText(const tensor::Value& v, bool full) {
  const bool complex =
      v.dtype() == tensor::DType::kComplex64 || v.dtype() == tensor::DType::kComplex128;
  if (complex || (!full && v.count() > kMaxPrintedElements)) {
    char hex[20];
    const auto r = std::to_chars(hex, hex + sizeof hex, Hash64(v.bytes()), 16);
    return Cat("hash ", Quote(std::string_view(hex, static_cast<std::size_t>(r.ptr - hex))));
  }
  std::string s = "[";
  for (std::int64_t i = 0; i < v.count(); ++i) s += (i ? ", " : "") + ElementText(v, i);
  return s + ']';
}

std::string ValueText(const tensor::Value& v, bool full) {
  // Only tensors are constants in a file we read; anything else prints as its type.
  return v.is_tensor() ? Cat(TypeText(v.type()), " = ", DataText(v, full)) : TypeText(v.type());
}

template <class T, class F>
std::string ListText(const std::vector<T>& v, std::string_view empty, F text) {
  if (v.empty()) return Cat(empty, " []");
  std::string s = "[";
  for (std::size_t i = 0; i < v.size(); ++i) s += (i ? ", " : "") + text(v[i]);
  return s + ']';
}

std::string AttrText(const ops::AttrValue& v, bool full) {
  struct Visitor {
    bool full;
    std::string operator()(std::int64_t i) const { return Cat(i); }
    std::string operator()(float f) const { return FloatText(f); }
    std::string operator()(const std::string& s) const { return Quote(s); }
    std::string operator()(const ops::Ints& l) const {
      return ListText(l, "ints", [](std::int64_t i) { return Cat(i); });
    }
    std::string operator()(const ops::Floats& l) const {
      return ListText(l, "floats", FloatText<float>);
    }
    std::string operator()(const ops::Strings& l) const { return ListText(l, "strings", Quote); }
    std::string operator()(const tensor::Value& t) const {
      return Cat("tensor ", ValueText(t, full));
    }
  };
  return std::visit(Visitor{full}, v);
}

std::string AttrsText(const ops::Attrs& attrs, bool full) {
  if (attrs.all().empty()) return {};
  std::string s = " {";
  for (std::size_t i = 0; i < attrs.all().size(); ++i) {
    const auto& [name, value] = attrs.all()[i];
    s += Cat(i ? ", " : "", IsPlainWord(name) ? name : Quote(name), " = ", AttrText(value, full));
  }
  return s + '}';
}

class Printer {
 public:
  Printer(const Graph& g, bool full, std::string indent)
      : g_(g), full_(full), indent_(std::move(indent)) {
    std::map<std::string_view, int> times;
    for (const ValueInfo& v : g.values) ++times[v.name];
    // Numbered in the order of definition, which is the order a parser gives ids in.
    int number = 0;
    tokens_.resize(g.values.size());
    const auto name_it = [&](ValueId id) {
      const std::string& name = g.values[id].name;
      std::string& token = tokens_[id];
      if (!token.empty()) return;
      const bool plain = IsPlainWord(name) && times[name] == 1;
      token = plain ? name : Cat("v", number++);
      while (!plain && times.contains(token)) token += '_';
    };
    for (const ValueId id : g.inputs) name_it(id);
    for (std::size_t i = 0; i < g.values.size(); ++i) {
      if (g.values[i].constant) name_it(static_cast<ValueId>(i));
    }
    for (const State& s : g.states) name_it(s.input);
    for (const Node& n : g.nodes) {
      for (const ValueId id : n.outputs) name_it(id);
    }
  }

  std::string Run() {
    out_ = Cat("graph ", Quote(g_.name), " {\n");
    for (const auto& [key, value] : g_.metadata) Line(Cat("meta ", Quote(key), " ", Quote(value)));
    for (const SourceNode& s : g_.source_nodes)
      Line(Cat("source ", Quote(s.name), " ", Quote(s.op)));
    for (const ValueId id : g_.inputs) Line(Cat("input ", Definition(id)));
    for (std::size_t i = 0; i < g_.values.size(); ++i) {
      const auto id = static_cast<ValueId>(i);
      if (!g_.values[i].constant) continue;
      Line(Cat("const ", Definition(id), g_.values[i].constant->is_tensor() ? " = " : "",
               g_.values[i].constant->is_tensor() ? DataText(*g_.values[i].constant, full_) : ""));
    }
    for (const State& s : g_.states) {
      const std::string initial = s.initial ? Cat(" starts ", ValueText(*s.initial, full_)) : "";
      Line(Cat("state ", Quote(s.name), " ", TypeText(s.type), initial, " reads ",
               Definition(s.input)));
    }
    for (const Node& n : g_.nodes) Print(n);
    for (const State& s : g_.states) Line(Cat("next ", Quote(s.name), " %", tokens_[s.output]));
    for (const ValueId id : g_.outputs) Line(Cat("output %", tokens_[id]));
    return out_ + indent_ + "}";
  }

 private:
  void Line(const std::string& s) { out_ += Cat(indent_, "  ", s, "\n"); }

  // Where a value appears first: with type, and its name where the token is not the name.
  std::string Definition(ValueId id) const {
    const ValueInfo& v = g_.value(id);
    const std::string name = tokens_[id] == v.name ? "" : Cat(" ", Quote(v.name));
    return Cat("%", tokens_[id], name, " : ", TypeText(v.type));
  }

  void Print(const Node& n) {
    std::string s;
    for (std::size_t i = 0; i < n.outputs.size(); ++i)
      s += Cat(i ? ", " : "", Definition(n.outputs[i]));
    s += n.outputs.empty() ? "none = " : " = ";
    s += n.is_foreign() ? Cat("foreign ", Quote(n.foreign_domain), " ", Quote(n.foreign_op))
                        : std::string(n.op->name);
    s += '(';
    for (std::size_t i = 0; i < n.inputs.size(); ++i) {
      s += i ? ", " : "";
      s += n.inputs[i] == kNoValue ? "_" : Cat("%", tokens_[n.inputs[i]]);
    }
    s += ')' + AttrsText(n.attrs, full_);
    if (!n.epilogue.empty()) {
      s += " epilogue [";
      for (std::size_t i = 0; i < n.epilogue.size(); ++i) {
        const ops::EpilogueStep& e = n.epilogue[i];
        s += Cat(i ? ", " : "", e.op->name);
        if (e.operand >= 0) s += Cat("(#", e.operand, e.swapped ? ", swapped)" : ")");
        s += AttrsText(e.attrs, full_);
      }
      s += ']';
    }
    // One output node that is called as its result is the common case, and is left out.
    if (n.outputs.empty() || n.name != g_.value(n.outputs[0]).name)
      s += Cat(" name ", Quote(n.name));
    if (!n.from.empty()) {
      s += " from [";
      for (std::size_t i = 0; i < n.from.size(); ++i) s += Cat(i ? ", " : "", n.from[i]);
      s += ']';
    }
    for (const auto& [name, body] : n.bodies) {
      s += Cat(" body ", Quote(name), " ", Printer(*body, full_, indent_ + "  ").Run());
    }
    Line(s);
  }

  const Graph& g_;
  const bool full_;
  const std::string indent_;
  std::vector<std::string> tokens_;
  std::string out_;
};

}  // namespace

std::string PrintText(const Graph& g, bool full_constants) {
  return Printer(g, full_constants, "").Run() + "\n";
}

}  // namespace npukit::ir
