// Text to graph. The text may be hostile: depth, ranks and the bytes of constants are bounded,
// every error names line and column, and the result is verified before it is handed out.
#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>

#include "base/text.h"
#include "ir/control.h"
#include "ir/node.h"
#include "ir/text_lexer.h"

namespace npukit::ir {
namespace {

constexpr int kMaxTypeDepth = 64;  // as the importers' limit
constexpr std::size_t kMaxRank = 64;
constexpr std::uint64_t kMaxConstantBytes = std::uint64_t{1}
                                            << 28;  // all constants of one text together

// Numbers without meaning that are the same everywhere: for graphs in tests whose weights do not
// matter.
void FillRandom(tensor::Value& v, std::uint64_t seed, double low, double high) {
  std::uint64_t state = seed;
  for (std::int64_t i = 0; i < v.count(); ++i) {
    state += 0x9E3779B97F4A7C15u;  // splitmix64
    std::uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    z ^= z >> 31;
    tensor::StoreDouble(v, i, low + (high - low) * (static_cast<double>(z >> 11) * 0x1p-53));
  }
}

class Parser {
 public:
  explicit Parser(std::string_view text) : lexer_(text) {}

  Result<Graph> Run() {
    NPUKIT_RETURN_IF_ERROR(Advance());
    Graph g;
    NPUKIT_RETURN_IF_ERROR(ParseGraph(&g, 0));
    if (token_.kind != TokenKind::kEnd) return Unexpected("the end");
    NPUKIT_RETURN_IF_ERROR(Verify(g));
    return g;
  }

 private:
  using Tokens = std::map<std::string, ValueId, std::less<>>;

  Status Advance() {
    auto t = lexer_.Next();
    if (!t.ok()) return t.status();
    token_ = *t;
    return OkStatus();
  }
  std::string Where() const { return Cat("line ", token_.line, ", column ", token_.column, ": "); }
  Status Fail(std::string_view what) const { return DataCorrupt(Cat(Where(), what)); }
  Status Unexpected(std::string_view expected) const {
    const std::string found =
        token_.kind == TokenKind::kEnd ? "the end" : Cat("'", Printable(token_.text, 40), "'");
    return Fail(Cat("expected ", expected, ", found ", found));
  }
  bool Is(std::string_view text) const {
    return (token_.kind == TokenKind::kPunctuation || token_.kind == TokenKind::kWord) &&
           token_.text == text;
  }
  // Takes the token when it is this one.
  Result<bool> Take(std::string_view text) {
    if (!Is(text)) return false;
    NPUKIT_RETURN_IF_ERROR(Advance());
    return true;
  }
  Status Expect(std::string_view text) {
    return Is(text) ? Advance() : Unexpected(Cat("'", text, "'"));
  }
  Result<std::string> String() {
    if (token_.kind != TokenKind::kString) return Unexpected("a string");
    auto s = Unquote(token_.text);
    if (!s.ok()) return Fail(s.status().message());
    NPUKIT_RETURN_IF_ERROR(Advance());
    return s;
  }
  Result<std::string> WordOrString(std::string_view expected) {
    if (token_.kind == TokenKind::kString) return String();
    if (token_.kind != TokenKind::kWord) return Unexpected(expected);
    std::string s(token_.text);
    NPUKIT_RETURN_IF_ERROR(Advance());
    return s;
  }
  template <class T>
  Result<T> Number(std::string_view expected) {
    const char* begin = token_.text.data();
    const char* end = begin + token_.text.size();
    const bool plausible = token_.kind == TokenKind::kNumber || Is("inf") || Is("nan");
    if (plausible && begin != end && *begin == '+') ++begin;
    T v{};
    const auto r = std::from_chars(begin, end, v);
    if (!plausible || r.ec != std::errc() || r.ptr != end) return Unexpected(expected);
    NPUKIT_RETURN_IF_ERROR(Advance());
    return v;
  }
  Result<std::int64_t> Int() { return Number<std::int64_t>("a whole number"); }
  // Calls item() for each of "[a, b, ...]".
  template <class F>
  Status List(F item) {
    NPUKIT_RETURN_IF_ERROR(Expect("["));
    for (bool first = true; !Is("]"); first = false) {
      if (!first) NPUKIT_RETURN_IF_ERROR(Expect(","));
      NPUKIT_RETURN_IF_ERROR(item());
    }
    return Advance();
  }

  Result<tensor::Type> ParseType(int depth) {
    if (depth > kMaxTypeDepth) return Fail(Cat("a type nested deeper than ", kMaxTypeDepth));
    if (token_.kind != TokenKind::kWord) return Unexpected("a type");
    const std::string_view word = token_.text;
    if (word == "seq" || word == "opt") {
      NPUKIT_RETURN_IF_ERROR(Advance());
      NPUKIT_RETURN_IF_ERROR(Expect("("));
      NPUKIT_ASSIGN_OR_RETURN(tensor::Type element, ParseType(depth + 1));
      NPUKIT_RETURN_IF_ERROR(Expect(")"));
      return word == "seq" ? tensor::Type::Sequence(std::move(element))
                           : tensor::Type::Optional(std::move(element));
    }
    tensor::DType dtype = tensor::DType::kUndefined;
    if (word != "undefined") {
      const auto named = tensor::DTypeFromName(word);
      if (!named) return Unexpected("an element type such as fp32");
      dtype = *named;
    }
    NPUKIT_RETURN_IF_ERROR(Advance());
    NPUKIT_RETURN_IF_ERROR(Expect("["));
    if (token_.kind == TokenKind::kNumber && token_.text == "...") {
      NPUKIT_RETURN_IF_ERROR(Advance());
      NPUKIT_RETURN_IF_ERROR(Expect("]"));
      return tensor::Type::Tensor(dtype, std::optional<tensor::Shape>());
    }
    tensor::Shape shape;
    for (bool first = true; !Is("]"); first = false) {
      if (!first) NPUKIT_RETURN_IF_ERROR(Expect(","));
      if (shape.rank() == kMaxRank) return Fail(Cat("more than ", kMaxRank, " dimensions"));
      tensor::Dim dim;
      if (token_.kind == TokenKind::kNumber) {
        NPUKIT_ASSIGN_OR_RETURN(dim.value, Int());
        if (dim.value < 0) return Fail("a negative size");
      } else if (!Is("?")) {
        NPUKIT_ASSIGN_OR_RETURN(dim.symbol, WordOrString("a size"));
      } else {
        NPUKIT_RETURN_IF_ERROR(Advance());
      }
      shape.dims.push_back(std::move(dim));
    }
    NPUKIT_RETURN_IF_ERROR(Advance());
    return tensor::Type::Tensor(dtype, std::optional<tensor::Shape>(std::move(shape)));
  }

  Status ParseElement(tensor::Value& v, std::int64_t i) {
    const auto at = static_cast<std::size_t>(i);
    if (v.dtype() == tensor::DType::kString) {
      NPUKIT_ASSIGN_OR_RETURN(v.mutable_strings()[at], String());
    } else if (v.dtype() == tensor::DType::kF32) {
      NPUKIT_ASSIGN_OR_RETURN(v.as_mutable<float>()[at], Number<float>("a number"));
    } else if (v.dtype() == tensor::DType::kI64) {
      NPUKIT_ASSIGN_OR_RETURN(v.as_mutable<std::int64_t>()[at], Int());
    } else if (v.dtype() == tensor::DType::kU64) {
      NPUKIT_ASSIGN_OR_RETURN(v.as_mutable<std::uint64_t>()[at],
                              Number<std::uint64_t>("a whole number"));
    } else {
      NPUKIT_ASSIGN_OR_RETURN(const double x, Number<double>("a number"));
      tensor::StoreDouble(v, i, x);
    }
    return OkStatus();
  }

  // What follows the type of a constant: a list, `hash "..."` (read as zeros: the bytes are not in
  // the text), or `random SEED LOW HIGH`.
  Result<tensor::Value> ParseData(const tensor::Type& type) {
    if (!type.is_static())
      return Fail(Cat("a constant needs a fixed shape, found ", type.ToString()));
    const tensor::Dims dims = type.dims();
    const auto count = tensor::ElementCount(dims);
    const bool strings = type.dtype == tensor::DType::kString;
    const auto bytes =
        !count ? std::nullopt
        : strings
            ? std::optional<std::uint64_t>(static_cast<std::uint64_t>(*count) * sizeof(std::string))
            : type.bytes();
    if (!bytes || *bytes > kMaxConstantBytes - constant_bytes_) {
      return ResourceExhausted(
          Cat(Where(), "constants of more than ", kMaxConstantBytes, " bytes in all"));
    }
    constant_bytes_ += *bytes;
    NPUKIT_ASSIGN_OR_RETURN(tensor::Value v, tensor::Value::Allocate(type.dtype, dims));
    if (v.byte_size() > 0) std::memset(v.mutable_data(), 0, v.byte_size());
    if (Is("hash")) {
      NPUKIT_RETURN_IF_ERROR(Advance());
      NPUKIT_RETURN_IF_ERROR(String().status());
      return v;
    }
    if (Is("random") && !strings) {
      NPUKIT_RETURN_IF_ERROR(Advance());
      NPUKIT_ASSIGN_OR_RETURN(const std::int64_t seed, Int());
      NPUKIT_ASSIGN_OR_RETURN(const double low, Number<double>("the lowest number"));
      NPUKIT_ASSIGN_OR_RETURN(const double high, Number<double>("the highest number"));
      FillRandom(v, static_cast<std::uint64_t>(seed), low, high);
      return v;
    }
    std::int64_t i = 0;
    NPUKIT_RETURN_IF_ERROR(List([&]() -> Status {
      if (i == v.count())
        return Fail(Cat("more than the ", v.count(), " elements of ", type.ToString()));
      return ParseElement(v, i++);
    }));
    if (i != v.count()) return Fail(Cat("expected ", v.count(), " elements, found ", i));
    return v;
  }

  template <class T, class F>
  Result<ops::AttrValue> AttrList(F item) {
    std::vector<T> list;
    NPUKIT_RETURN_IF_ERROR(List([&]() -> Status {
      NPUKIT_ASSIGN_OR_RETURN(T v, item());
      list.push_back(std::move(v));
      return OkStatus();
    }));
    return ops::AttrValue(std::move(list));
  }
  Result<ops::AttrValue> IntList() {
    return AttrList<std::int64_t>([&] { return Int(); });
  }
  Result<ops::AttrValue> FloatList() {
    return AttrList<float>([&] { return Number<float>("a number"); });
  }
  Result<ops::AttrValue> StringList() {
    return AttrList<std::string>([&] { return String(); });
  }

  // The operator's definition says the kind; without one (foreign, unknown attribute) the spelling
  // does.
  Result<ops::AttrValue> ParseAttr(const ops::OpDef* op, std::string_view name) {
    for (const ops::AttrDef& d : op ? op->attrs : std::span<const ops::AttrDef>()) {
      if (d.name != name) continue;
      if (d.kind == ops::AttrKind::kFloat) {
        NPUKIT_ASSIGN_OR_RETURN(const float f, Number<float>("a number"));
        return ops::AttrValue(f);
      }
      if (Is("[") && d.kind == ops::AttrKind::kFloats) return FloatList();
      if (Is("[") && d.kind == ops::AttrKind::kStrings) return StringList();
    }
    NPUKIT_ASSIGN_OR_RETURN(const bool tensor_value, Take("tensor"));
    if (tensor_value) {
      NPUKIT_ASSIGN_OR_RETURN(const tensor::Type type, ParseType(0));
      NPUKIT_RETURN_IF_ERROR(Expect("="));
      NPUKIT_ASSIGN_OR_RETURN(tensor::Value v, ParseData(type));
      return ops::AttrValue(std::move(v));
    }
    NPUKIT_ASSIGN_OR_RETURN(const bool floats, Take("floats"));
    if (floats) return FloatList();
    NPUKIT_ASSIGN_OR_RETURN(const bool strings, Take("strings"));
    if (strings) return StringList();
    NPUKIT_ASSIGN_OR_RETURN(const bool ints, Take("ints"));
    if (ints) return IntList();
    if (token_.kind == TokenKind::kString) {
      NPUKIT_ASSIGN_OR_RETURN(std::string s, String());
      return ops::AttrValue(std::move(s));
    }
    if (Is("[")) {
      // The first element decides.
      Lexer ahead = lexer_;
      NPUKIT_ASSIGN_OR_RETURN(const Token first, ahead.Next());
      if (first.kind == TokenKind::kString) return StringList();
      return LooksFloat(first) ? FloatList() : IntList();
    }
    if (LooksFloat(token_)) {
      NPUKIT_ASSIGN_OR_RETURN(const float f, Number<float>("a number"));
      return ops::AttrValue(f);
    }
    NPUKIT_ASSIGN_OR_RETURN(const std::int64_t i, Number<std::int64_t>("an attribute's value"));
    return ops::AttrValue(i);
  }

  static bool LooksFloat(const Token& t) {
    return t.kind != TokenKind::kString && t.text.find_first_of(".einf") != std::string_view::npos;
  }

  // "{name = value, ...}", or nothing.
  Status ParseAttrs(const ops::OpDef* op, ops::Attrs* attrs) {
    NPUKIT_ASSIGN_OR_RETURN(const bool any, Take("{"));
    if (!any) return OkStatus();
    for (bool first = true; !Is("}"); first = false) {
      if (!first) NPUKIT_RETURN_IF_ERROR(Expect(","));
      NPUKIT_ASSIGN_OR_RETURN(const std::string name, WordOrString("an attribute's name"));
      NPUKIT_RETURN_IF_ERROR(Expect("="));
      NPUKIT_ASSIGN_OR_RETURN(ops::AttrValue v, ParseAttr(op, name));
      attrs->Set(name, std::move(v));
    }
    return Advance();
  }

  // "%token "name" : type"; name and type may be left out. A value that exists already is taken as
  // it is.
  Result<ValueId> Define(Graph* g, Tokens* tokens, std::vector<tensor::Type>* stated,
                         bool may_exist) {
    if (token_.kind != TokenKind::kValue) return Unexpected("a value such as %x");
    std::string token(token_.text);
    const auto known = tokens->find(token);
    if (known != tokens->end() && !may_exist)
      return Fail(Cat("%", Printable(token), " is defined twice"));
    NPUKIT_RETURN_IF_ERROR(Advance());
    std::string name = token;
    if (token_.kind == TokenKind::kString) {
      NPUKIT_ASSIGN_OR_RETURN(name, String());
    }
    tensor::Type type;
    NPUKIT_ASSIGN_OR_RETURN(const bool typed, Take(":"));
    if (typed) {
      NPUKIT_ASSIGN_OR_RETURN(type, ParseType(0));
    }
    if (known != tokens->end()) return known->second;
    stated->push_back(type);
    const ValueId id = g->AddValue(std::move(name), std::move(type));
    tokens->emplace(std::move(token), id);
    return id;
  }

  Result<ValueId> Use(const Tokens& tokens) {
    if (token_.kind != TokenKind::kValue) return Unexpected("a value such as %x");
    const auto it = tokens.find(token_.text);
    if (it == tokens.end())
      return Fail(Cat("%", Printable(token_.text, 40), " is not defined before it is used"));
    NPUKIT_RETURN_IF_ERROR(Advance());
    return it->second;
  }

  Status ParseEpilogue(Node* n) {
    return List([&]() -> Status {
      ops::EpilogueStep step;
      step.op = token_.kind == TokenKind::kWord ? ops::FindOp(token_.text) : nullptr;
      if (!step.op) return Unexpected("an operator");
      NPUKIT_RETURN_IF_ERROR(Advance());
      NPUKIT_ASSIGN_OR_RETURN(const bool binary, Take("("));
      if (binary) {
        NPUKIT_RETURN_IF_ERROR(Expect("#"));
        NPUKIT_ASSIGN_OR_RETURN(step.operand, Number<int>("the number of an input"));
        if (step.operand < 0 || static_cast<std::size_t>(step.operand) >= n->inputs.size()) {
          return Fail(Cat("input #", step.operand, " of ", n->inputs.size()));
        }
        NPUKIT_ASSIGN_OR_RETURN(const bool more, Take(","));
        if (more) {
          NPUKIT_RETURN_IF_ERROR(Expect("swapped"));
          step.swapped = true;
        }
        NPUKIT_RETURN_IF_ERROR(Expect(")"));
      }
      NPUKIT_RETURN_IF_ERROR(ParseAttrs(step.op, &step.attrs));
      n->epilogue.push_back(std::move(step));
      return OkStatus();
    });
  }

  Status ParseNode(Graph* g, Tokens* tokens, std::vector<tensor::Type>* stated, int depth) {
    Node n;
    if (Is("none")) {
      NPUKIT_RETURN_IF_ERROR(Advance());
    } else {
      for (bool more = true; more;) {
        NPUKIT_ASSIGN_OR_RETURN(const ValueId id, Define(g, tokens, stated, false));
        n.outputs.push_back(id);
        NPUKIT_ASSIGN_OR_RETURN(more, Take(","));
      }
      n.name = g->value(n.outputs[0]).name;
    }
    NPUKIT_RETURN_IF_ERROR(Expect("="));
    NPUKIT_ASSIGN_OR_RETURN(const bool foreign, Take("foreign"));
    if (foreign) {
      NPUKIT_ASSIGN_OR_RETURN(n.foreign_domain, String());
      NPUKIT_ASSIGN_OR_RETURN(n.foreign_op, String());
    } else {
      n.op = token_.kind == TokenKind::kWord ? ops::FindOp(token_.text) : nullptr;
      if (!n.op) return Unexpected("an operator");
      NPUKIT_RETURN_IF_ERROR(Advance());
    }
    NPUKIT_RETURN_IF_ERROR(Expect("("));
    for (bool first = true; !Is(")"); first = false) {
      if (!first) NPUKIT_RETURN_IF_ERROR(Expect(","));
      NPUKIT_ASSIGN_OR_RETURN(const bool absent, Take("_"));
      if (absent) {
        n.inputs.push_back(kNoValue);
      } else {
        NPUKIT_ASSIGN_OR_RETURN(const ValueId id, Use(*tokens));
        n.inputs.push_back(id);
      }
    }
    NPUKIT_RETURN_IF_ERROR(Advance());
    NPUKIT_RETURN_IF_ERROR(ParseAttrs(n.op, &n.attrs));
    NPUKIT_RETURN_IF_ERROR(ParseNodeExtras(g, &n, depth));
    const std::string where = Where();
    if (const Status s = g->AddNode(std::move(n)).status(); !s.ok())
      return s.WithContext(where + "before here");
    return OkStatus();
  }

  Status ParseNodeExtras(Graph* g, Node* n, int depth) {
    NPUKIT_ASSIGN_OR_RETURN(const bool epilogue, Take("epilogue"));
    if (epilogue) NPUKIT_RETURN_IF_ERROR(ParseEpilogue(n));
    NPUKIT_ASSIGN_OR_RETURN(const bool named, Take("name"));
    if (named) {
      NPUKIT_ASSIGN_OR_RETURN(n->name, String());
    }
    NPUKIT_ASSIGN_OR_RETURN(const bool from, Take("from"));
    if (from) {
      NPUKIT_RETURN_IF_ERROR(List([&]() -> Status {
        NPUKIT_ASSIGN_OR_RETURN(const std::uint32_t source,
                                Number<std::uint32_t>("the number of a source node"));
        if (source >= g->source_nodes.size())
          return Fail(Cat("source node ", source, " of ", g->source_nodes.size()));
        n->from.push_back(source);
        return OkStatus();
      }));
    }
    while (Is("body")) {
      NPUKIT_RETURN_IF_ERROR(Advance());
      NPUKIT_ASSIGN_OR_RETURN(std::string name, String());
      auto body = std::make_shared<Graph>();
      NPUKIT_RETURN_IF_ERROR(ParseGraph(body.get(), depth + 1));
      n->bodies.emplace_back(std::move(name), std::move(body));
    }
    return OkStatus();
  }

  Status ParseState(Graph* g, Tokens* tokens, std::vector<tensor::Type>* stated) {
    State s;
    NPUKIT_ASSIGN_OR_RETURN(s.name, String());
    NPUKIT_ASSIGN_OR_RETURN(s.type, ParseType(0));
    NPUKIT_ASSIGN_OR_RETURN(const bool starts, Take("starts"));
    if (starts) {
      NPUKIT_ASSIGN_OR_RETURN(const tensor::Type type, ParseType(0));
      NPUKIT_RETURN_IF_ERROR(Expect("="));
      NPUKIT_ASSIGN_OR_RETURN(s.initial, ParseData(type));
    }
    NPUKIT_RETURN_IF_ERROR(Expect("reads"));
    NPUKIT_ASSIGN_OR_RETURN(s.input, Define(g, tokens, stated, true));
    g->states.push_back(std::move(s));
    return OkStatus();
  }

  Status ParseNext(Graph* g, const Tokens& tokens) {
    NPUKIT_ASSIGN_OR_RETURN(const std::string name, String());
    for (State& s : g->states) {
      if (s.name != name || s.output != kNoValue) continue;
      NPUKIT_ASSIGN_OR_RETURN(s.output, Use(tokens));
      return OkStatus();
    }
    return Fail(Cat("no state ", Printable(name), " waits for its next value"));
  }

  Status ParseLine(Graph* g, Tokens* tokens, std::vector<tensor::Type>* stated, int depth) {
    if (token_.kind == TokenKind::kValue || Is("none")) return ParseNode(g, tokens, stated, depth);
    if (token_.kind != TokenKind::kWord) return Unexpected("a line of a graph or '}'");
    const std::string_view word = token_.text;
    if (word != "meta" && word != "source" && word != "input" && word != "const" &&
        word != "state" && word != "next" && word != "output") {
      return Unexpected("meta, source, input, const, state, next, output, a value or '}'");
    }
    NPUKIT_RETURN_IF_ERROR(Advance());
    if (word == "meta" || word == "source") {
      NPUKIT_ASSIGN_OR_RETURN(std::string first, String());
      NPUKIT_ASSIGN_OR_RETURN(std::string second, String());
      if (word == "meta") {
        g->metadata.emplace_back(std::move(first), std::move(second));
      } else {
        g->source_nodes.push_back(SourceNode{std::move(first), std::move(second)});
      }
      return OkStatus();
    }
    if (word == "input" || word == "const") {
      NPUKIT_ASSIGN_OR_RETURN(const ValueId id, Define(g, tokens, stated, false));
      if (word == "input") {
        g->inputs.push_back(id);
        return OkStatus();
      }
      NPUKIT_RETURN_IF_ERROR(Expect("="));
      NPUKIT_ASSIGN_OR_RETURN(g->value(id).constant, ParseData(g->value(id).type));
      return OkStatus();
    }
    if (word == "state") return ParseState(g, tokens, stated);
    if (word == "next") return ParseNext(g, *tokens);
    NPUKIT_ASSIGN_OR_RETURN(const ValueId id, Use(*tokens));
    g->outputs.push_back(id);
    return OkStatus();
  }

  Status ParseGraph(Graph* g, int depth) {
    if (depth > kMaxBodyDepth) return Fail(Cat("graphs nested deeper than ", kMaxBodyDepth));
    NPUKIT_RETURN_IF_ERROR(Expect("graph"));
    NPUKIT_ASSIGN_OR_RETURN(g->name, String());
    NPUKIT_RETURN_IF_ERROR(Expect("{"));
    Tokens tokens;
    std::vector<tensor::Type> stated;  // by value, as the text says
    while (!Is("}")) {
      NPUKIT_RETURN_IF_ERROR(ParseLine(g, &tokens, &stated, depth));
    }
    NPUKIT_RETURN_IF_ERROR(CheckStated(g, stated));
    return Advance();
  }

  // Types are inferred; what the text states must not contradict that, and stands where it only
  // says less.
  Status CheckStated(Graph* g, const std::vector<tensor::Type>& stated) const {
    if (const Status s = InferTypes(*g); !s.ok()) return s.WithContext(Where() + "before here");
    for (std::size_t i = 0; i < stated.size(); ++i) {
      tensor::Type& inferred = g->values[i].type;
      if (stated[i] == tensor::Type{} || stated[i] == inferred) continue;
      if (!SaysLess(stated[i], inferred)) {
        return DataCorrupt(Cat(Where(), "before here: ", Printable(g->values[i].name), " is ",
                               inferred.ToString(), ", stated as ", stated[i].ToString()));
      }
      inferred = stated[i];
    }
    return OkStatus();
  }

  static bool SaysLess(const tensor::Type& stated, const tensor::Type& inferred) {
    if (!stated.is_tensor() || !inferred.is_tensor() || stated.dtype != inferred.dtype)
      return false;
    if (!stated.shape || !inferred.shape) return !stated.shape;
    if (stated.shape->rank() != inferred.shape->rank()) return false;
    for (std::size_t i = 0; i < stated.shape->rank(); ++i) {
      const tensor::Dim& d = stated.shape->dims[i];
      if (d.known() && d != inferred.shape->dims[i]) return false;
    }
    return true;
  }

  Lexer lexer_;
  Token token_;
  std::uint64_t constant_bytes_ = 0;
};

}  // namespace

Result<Graph> ParseText(std::string_view text) { return Parser(text).Run(); }

}  // namespace npukit::ir
