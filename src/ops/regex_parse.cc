#include "ops/regex_parse.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "ops/utf8.h"

namespace npukit::ops {
namespace {

using Node = RegexNode;
using Class = Regex::Class;
using Assert = Regex::Assert;

constexpr int kMostDepth = 200;
constexpr int kMostRepeats = 1000;  // as RE2
constexpr std::int32_t kLastCodePoint = 0x10FFFF;

Class Of(std::initializer_list<std::pair<std::int32_t, std::int32_t>> ranges) {
  return {.ranges = ranges, .negated = false, .ignores_case = false};
}

std::optional<Class> PosixClass(std::string_view name) {
  if (name == "alnum") return Of({{'0', '9'}, {'A', 'Z'}, {'a', 'z'}});
  if (name == "alpha") return Of({{'A', 'Z'}, {'a', 'z'}});
  if (name == "ascii") return Of({{0, 0x7F}});
  if (name == "blank") return Of({{'\t', '\t'}, {' ', ' '}});
  if (name == "cntrl") return Of({{0, 0x1F}, {0x7F, 0x7F}});
  if (name == "digit") return Of({{'0', '9'}});
  if (name == "graph") return Of({{'!', '~'}});
  if (name == "lower") return Of({{'a', 'z'}});
  if (name == "print") return Of({{' ', '~'}});
  if (name == "punct") return Of({{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}});
  if (name == "space") return Of({{'\t', '\r'}, {' ', ' '}});
  if (name == "upper") return Of({{'A', 'Z'}});
  if (name == "word") return Of({{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}});
  if (name == "xdigit") return Of({{'0', '9'}, {'A', 'F'}, {'a', 'f'}});
  return std::nullopt;
}

// \d, \s, \w and their opposites.
std::optional<Class> PerlClass(char ch) {
  std::optional<Class> c;
  if (ch == 'd' || ch == 'D') c = PosixClass("digit");
  if (ch == 's' || ch == 'S') c = Of({{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}});
  if (ch == 'w' || ch == 'W') c = PosixClass("word");
  if (c && ch < 'a') c->negated = true;
  return c;
}

// What is in none of the ranges.
Class Opposite(Class c) {
  std::sort(c.ranges.begin(), c.ranges.end());
  Class out;
  std::int32_t next = 0;
  for (const auto& [from, to] : c.ranges) {
    if (from > next) out.ranges.emplace_back(next, from - 1);
    next = std::max(next, to + 1);
  }
  if (next <= kLastCodePoint) out.ranges.emplace_back(next, kLastCodePoint);
  return out;
}

struct Flags {
  bool ignore_case = false, dot_all = false, many_lines = false;
};

class Parser {
 public:
  explicit Parser(std::string_view pattern) : pattern_(pattern) {}

  Result<Node> Run() {
    NPUKIT_ASSIGN_OR_RETURN(Node n, Either(0));
    if (at_ < pattern_.size()) return Bad("a ) without its (");
    return n;
  }

 private:
  bool AtEnd() const { return at_ >= pattern_.size(); }
  bool Sees(std::string_view s) const { return pattern_.substr(at_).starts_with(s); }
  bool Takes(std::string_view s) {
    if (!Sees(s)) return false;
    at_ += s.size();
    return true;
  }
  Status Bad(std::string_view what) const {
    return InvalidArgument(Cat("the pattern \"", Printable(pattern_, 60), "\" has ", what,
                               " at byte ", std::min(at_, pattern_.size())));
  }
  Result<std::int32_t> Char() {
    const std::int32_t c = NextCodePoint(pattern_, &at_);
    if (c == kNoCodePoint) return Bad("bytes that are not UTF-8");
    return c;
  }

  Node ClassNode(Class c) const {
    Node n;
    n.kind = Node::Kind::kClass;
    n.chars = std::move(c);
    n.chars.ignores_case = flags_.ignore_case;
    return n;
  }
  static Node AssertNode(Assert what) {
    Node n;
    n.kind = Node::Kind::kAssert;
    n.what = what;
    return n;
  }

  // Flags that change inside a group end with it.
  Result<Node> Either(int depth) {
    if (depth > kMostDepth) return Bad(Cat("groups more than ", kMostDepth, " deep"));
    const Flags before = flags_;
    Node n;
    n.kind = Node::Kind::kEither;
    do {
      NPUKIT_ASSIGN_OR_RETURN(Node item, Sequence(depth));
      n.items.push_back(std::move(item));
    } while (Takes("|"));
    flags_ = before;
    if (n.items.size() > 1) return n;
    Node only = std::move(n.items[0]);
    return only;
  }

  Result<Node> Sequence(int depth) {
    Node n;
    n.kind = Node::Kind::kSequence;
    bool repeats = false;  // the last item is a repetition
    while (!AtEnd() && !Sees("|") && !Sees(")")) {
      if (Takes("\\Q")) {
        const std::size_t end = std::min(pattern_.find("\\E", at_), pattern_.size());
        while (at_ < end) {
          NPUKIT_ASSIGN_OR_RETURN(const std::int32_t c, Char());
          n.items.push_back(ClassNode(Of({{c, c}})));
        }
        Takes("\\E");
        repeats = false;
        continue;
      }
      int least = 0, most = 0;
      NPUKIT_ASSIGN_OR_RETURN(const bool repeat, Repetition(&least, &most));
      if (repeat) {
        if (n.items.empty()) return Bad("nothing to repeat");
        if (repeats) return Bad("a repetition of a repetition");
        Takes("?");  // lazy: the same when all must match
        Node r;
        r.kind = Node::Kind::kRepeat;
        r.least = least;
        r.most = most;
        r.items.push_back(std::move(n.items.back()));
        n.items.back() = std::move(r);
        repeats = true;
        continue;
      }
      NPUKIT_ASSIGN_OR_RETURN(std::optional<Node> item, Atom(depth));
      if (item) {
        n.items.push_back(*std::move(item));
        repeats = false;
      }
    }
    return n;
  }

  // * + ? {2} {2,} {2,5}; braces that are none of these are letters.
  Result<bool> Repetition(int* least, int* most) {
    *least = Sees("+") ? 1 : 0;
    *most = Sees("?") ? 1 : -1;
    if (Takes("*") || Takes("+") || Takes("?")) return true;
    if (!Sees("{")) return false;
    const std::size_t start = at_;
    std::size_t i = at_ + 1;
    const auto number = [&](int* n) {
      const std::size_t begin = i;
      *n = 0;
      for (; i < pattern_.size() && pattern_[i] >= '0' && pattern_[i] <= '9'; ++i)
        *n = std::min(*n * 10 + (pattern_[i] - '0'), kMostRepeats + 1);
      return i > begin;
    };
    if (!number(least)) return false;
    *most = *least;
    if (i < pattern_.size() && pattern_[i] == ',') {
      ++i;
      if (!number(most)) *most = -1;
    }
    if (i >= pattern_.size() || pattern_[i] != '}') return false;
    at_ = i + 1;
    if (*least > kMostRepeats || *most > kMostRepeats || (*most >= 0 && *most < *least)) {
      at_ = start;
      return Bad(Cat("a repetition that is not 0 <= least <= most <= ", kMostRepeats));
    }
    return true;
  }

  Result<std::optional<Node>> Atom(int depth) {
    if (Takes("(")) return Group(depth);
    if (Takes(".")) {
      return std::optional(
          ClassNode(flags_.dot_all ? Of({{0, kLastCodePoint}}) : Opposite(Of({{'\n', '\n'}}))));
    }
    if (Takes("^"))
      return std::optional(AssertNode(flags_.many_lines ? Assert::kLineBegin : Assert::kTextBegin));
    if (Takes("$"))
      return std::optional(AssertNode(flags_.many_lines ? Assert::kLineEnd : Assert::kTextEnd));
    if (Takes("[")) {
      NPUKIT_ASSIGN_OR_RETURN(Class c, Bracket());
      return std::optional(ClassNode(std::move(c)));
    }
    if (Takes("\\A")) return std::optional(AssertNode(Assert::kTextBegin));
    if (Takes("\\z")) return std::optional(AssertNode(Assert::kTextEnd));
    if (Takes("\\b")) return std::optional(AssertNode(Assert::kWordBoundary));
    if (Takes("\\B")) return std::optional(AssertNode(Assert::kNoWordBoundary));
    if (Sees("\\")) {
      NPUKIT_ASSIGN_OR_RETURN(Class c, Escape());
      return std::optional(ClassNode(std::move(c)));
    }
    NPUKIT_ASSIGN_OR_RETURN(const std::int32_t c, Char());
    return std::optional(ClassNode(Of({{c, c}})));
  }

  // After "(". Nothing when it only sets flags.
  Result<std::optional<Node>> Group(int depth) {
    const Flags before = flags_;
    if (Takes("?")) {
      if (Takes("P<") || (Sees("<") && !Sees("<=") && !Sees("<!") && Takes("<"))) {
        const std::size_t end = pattern_.find('>', at_);
        if (end == std::string_view::npos || end == at_) return Bad("a group without its name");
        at_ = end + 1;
      } else {
        bool on = true;
        for (;; ++at_) {
          if (AtEnd()) return Bad("a ( without its )");
          const char ch = pattern_[at_];
          if (ch == 'i') flags_.ignore_case = on;
          if (ch == 's') flags_.dot_all = on;
          if (ch == 'm') flags_.many_lines = on;
          if (ch == '-' && on) {
            on = false;
          } else if (ch != 'i' && ch != 's' && ch != 'm' && ch != 'U') {
            break;
          }
        }
        if (Takes(")")) return std::optional<Node>();
        if (!Takes(":")) return Bad("a group (? of a kind that is not supported");
      }
    }
    NPUKIT_ASSIGN_OR_RETURN(Node n, Either(depth + 1));
    flags_ = before;
    if (!Takes(")")) return Bad("a ( without its )");
    // A group of its own, so that what follows repeats all of it.
    Node group;
    group.kind = Node::Kind::kSequence;
    group.items.push_back(std::move(n));
    return std::optional(std::move(group));
  }

  // A \ and what it stands for: characters of one place.
  Result<Class> Escape() {
    ++at_;
    if (AtEnd()) return Bad("a \\ at its end");
    const char ch = pattern_[at_];
    if (auto perl = PerlClass(ch)) {
      ++at_;
      return perl->negated ? Opposite(*perl) : *perl;
    }
    if (ch == 'p' || ch == 'P')
      return Bad("a class of a Unicode property (\\p), which is not supported");
    if (ch == 'C') return Bad("a single byte (\\C), which is not supported");
    std::int32_t c = -1;
    constexpr std::string_view kLetters = "afnrtv";
    constexpr std::string_view kMeans = "\a\f\n\r\t\v";
    if (const std::size_t i = kLetters.find(ch); i != std::string_view::npos) {
      c = kMeans[i];
      ++at_;
    } else if (ch == 'x') {
      ++at_;
      const bool braces = Takes("{");
      c = 0;
      int digits = 0;
      for (; !AtEnd() && (braces || digits < 2); ++at_, ++digits) {
        const char d = pattern_[at_];
        const int value = d >= '0' && d <= '9'   ? d - '0'
                          : d >= 'a' && d <= 'f' ? d - 'a' + 10
                          : d >= 'A' && d <= 'F' ? d - 'A' + 10
                                                 : -1;
        if (value < 0) break;
        c = std::min(c * 16 + value, kLastCodePoint + 1);
      }
      if (digits == 0 || (!braces && digits < 2) || (braces && !Takes("}")) || c > kLastCodePoint)
        return Bad("a \\x that is no character");
    } else if (ch >= '0' && ch <= '7') {
      // \0 is octal, and so is \1 when more octal digits follow; \1 alone would be a reference.
      const bool octal = ch == '0' || (at_ + 1 < pattern_.size() && pattern_[at_ + 1] >= '0' &&
                                       pattern_[at_ + 1] <= '7');
      if (!octal) return Bad("a reference to a group, which RE2 has not");
      c = 0;
      for (int digits = 0; digits < 3 && !AtEnd() && pattern_[at_] >= '0' && pattern_[at_] <= '7';
           ++digits, ++at_)
        c = c * 8 + (pattern_[at_] - '0');
    } else {
      const bool letter = (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || ch == '8' ||
                          ch == '9' || static_cast<unsigned char>(ch) >= 0x80;
      if (letter)
        return Bad(Cat("\\", Printable(std::string_view(&ch, 1)), ", which means nothing"));
      c = ch;
      ++at_;
    }
    return Of({{c, c}});
  }

  // After "[".
  Result<Class> Bracket() {
    Class out;
    const bool negated = Takes("^");
    for (bool first = true; first || !Sees("]"); first = false) {
      if (AtEnd()) return Bad("a [ without its ]");
      const auto add = [&](const Class& c) {
        out.ranges.insert(out.ranges.end(), c.ranges.begin(), c.ranges.end());
      };
      if (Takes("[:")) {
        const std::size_t end = pattern_.find(":]", at_);
        if (end == std::string_view::npos) return Bad("a [: without its :]");
        std::string_view name = pattern_.substr(at_, end - at_);
        const bool opposite = name.starts_with("^");
        if (opposite) name.remove_prefix(1);
        const auto named = PosixClass(name);
        if (!named) return Bad(Cat("no class of characters called ", Printable(name, 30)));
        add(opposite ? Opposite(*named) : *named);
        at_ = end + 2;
        continue;
      }
      NPUKIT_ASSIGN_OR_RETURN(const Class from, Place());
      const bool range = Sees("-") && !Sees("-]") && from.ranges.size() == 1 &&
                         from.ranges[0].first == from.ranges[0].second;
      if (!range) {
        add(from);
        continue;
      }
      ++at_;
      if (AtEnd()) return Bad("a [ without its ]");
      NPUKIT_ASSIGN_OR_RETURN(const Class to, Place());
      const std::int32_t low = from.ranges[0].first, high = to.ranges[0].second;
      if (to.ranges.size() != 1 || to.ranges[0].first != high || high < low)
        return Bad("a range of characters that is none");
      out.ranges.emplace_back(low, high);
    }
    ++at_;
    out.negated = negated;
    return out;
  }
  Result<Class> Place() {
    if (Sees("\\")) return Escape();
    NPUKIT_ASSIGN_OR_RETURN(const std::int32_t c, Char());
    return Of({{c, c}});
  }

  std::string_view pattern_;
  std::size_t at_ = 0;
  Flags flags_;
};

}  // namespace

Result<RegexNode> ParseRegex(std::string_view pattern) { return Parser(pattern).Run(); }

}  // namespace npukit::ops
