#include "ops/regex.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "base/text.h"
#include "ops/regex_parse.h"
#include "ops/utf8.h"

namespace npukit::ops {
namespace {

using Kind = Regex::Kind;
using Assert = Regex::Assert;
using Instruction = Regex::Instruction;

constexpr std::size_t kMostInstructions = 100'000;

// How many instructions and how many visits writing a tree takes, without writing it.
double WrittenSize(const RegexNode& n) {
  double items = 0;
  for (const RegexNode& item : n.items) items += WrittenSize(item) + 2;
  if (n.kind != RegexNode::Kind::kRepeat) return items + 1;
  return 1 + items * std::max(n.least + (n.most < 0 ? 1 : 0), n.most);
}

Result<RegexNode> ParseChecked(std::string_view pattern) {
  NPUKIT_ASSIGN_OR_RETURN(RegexNode tree, ParseRegex(pattern));
  // Sequences and groups count here and write nothing, so the limit is higher than the other.
  if (WrittenSize(tree) > 4.0 * kMostInstructions) {
    return ResourceExhausted(
        Cat("the pattern is too large: more than ", kMostInstructions, " steps"));
  }
  return tree;
}

// Sorted, without ranges that touch: found by halving.
Regex::Class Normal(Regex::Class c) {
  std::sort(c.ranges.begin(), c.ranges.end());
  std::size_t kept = 0;
  for (const auto& r : c.ranges) {
    if (kept > 0 && r.first <= c.ranges[kept - 1].second + 1) {
      c.ranges[kept - 1].second = std::max(c.ranges[kept - 1].second, r.second);
    } else {
      c.ranges[kept++] = r;
    }
  }
  c.ranges.resize(kept);
  return c;
}

// Writes the program of a tree; repetitions are written out, their classes are shared.
class Writer {
 public:
  std::vector<Instruction> program;
  std::vector<Regex::Class> classes;

  Status Write(const RegexNode& n) {
    // Empty groups may be repeated without writing anything, so visits count.
    if (program.size() > kMostInstructions || ++visits_ > 4 * kMostInstructions) {
      return ResourceExhausted(
          Cat("the pattern is too large: more than ", kMostInstructions, " steps"));
    }
    switch (n.kind) {
      case RegexNode::Kind::kEmpty:
        break;
      case RegexNode::Kind::kClass:
        Add({Kind::kClass, {}, ClassOf(n), 0});
        break;
      case RegexNode::Kind::kAssert:
        Add({Kind::kAssert, n.what, 0, 0});
        break;
      case RegexNode::Kind::kSequence:
        for (const RegexNode& item : n.items) NPUKIT_RETURN_IF_ERROR(Write(item));
        break;
      case RegexNode::Kind::kEither:
        return WriteEither(n);
      case RegexNode::Kind::kRepeat:
        return WriteRepeat(n);
    }
    return OkStatus();
  }

 private:
  std::uint32_t ClassOf(const RegexNode& n) {
    const auto [at, added] = written_.try_emplace(&n, static_cast<std::uint32_t>(classes.size()));
    if (added) classes.push_back(Normal(n.chars));
    return at->second;
  }
  std::uint32_t Here() const { return static_cast<std::uint32_t>(program.size()); }
  std::uint32_t Add(Instruction i) {
    program.push_back(i);
    return Here() - 1;
  }

  Status WriteEither(const RegexNode& n) {
    std::vector<std::uint32_t> jumps;
    for (std::size_t i = 0; i < n.items.size(); ++i) {
      const bool last = i + 1 == n.items.size();
      const std::uint32_t split = last ? 0 : Add({Kind::kSplit, {}, Here() + 1, 0});
      NPUKIT_RETURN_IF_ERROR(Write(n.items[i]));
      if (last) break;
      jumps.push_back(Add({Kind::kJump, {}, 0, 0}));
      program[split].b = Here();
    }
    for (const std::uint32_t j : jumps) program[j].a = Here();
    return OkStatus();
  }

  Status WriteRepeat(const RegexNode& n) {
    for (int i = 0; i < n.least; ++i) NPUKIT_RETURN_IF_ERROR(Write(n.items[0]));
    if (n.most < 0) {
      const std::uint32_t split = Add({Kind::kSplit, {}, Here() + 1, 0});
      NPUKIT_RETURN_IF_ERROR(Write(n.items[0]));
      Add({Kind::kJump, {}, split, 0});
      program[split].b = Here();
      return OkStatus();
    }
    std::vector<std::uint32_t> splits;
    for (int i = n.least; i < n.most; ++i) {
      splits.push_back(Add({Kind::kSplit, {}, Here() + 1, 0}));
      NPUKIT_RETURN_IF_ERROR(Write(n.items[0]));
    }
    for (const std::uint32_t s : splits) program[s].b = Here();
    return OkStatus();
  }

  std::size_t visits_ = 0;
  std::unordered_map<const RegexNode*, std::uint32_t> written_;  // its class
};

bool IsWord(std::int32_t c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

constexpr std::int32_t kOutside = -2;  // before the text, after it

bool Holds(Assert what, std::int32_t before, std::int32_t after) {
  switch (what) {
    case Assert::kTextBegin:
      return before == kOutside;
    case Assert::kTextEnd:
      return after == kOutside;
    case Assert::kLineBegin:
      return before == kOutside || before == '\n';
    case Assert::kLineEnd:
      return after == kOutside || after == '\n';
    case Assert::kWordBoundary:
      return IsWord(before) != IsWord(after);
    case Assert::kNoWordBoundary:
      return IsWord(before) == IsWord(after);
  }
  return false;
}

// A set of instructions in which each is at most once.
class Threads {
 public:
  explicit Threads(std::size_t n) : in_(n, false) {}
  std::vector<std::uint32_t> list;
  bool Add(std::uint32_t i) {
    if (in_[i]) return false;
    in_[i] = true;
    list.push_back(i);
    return true;
  }
  void Clear() {
    for (const std::uint32_t i : list) in_[i] = false;
    list.clear();
  }

 private:
  std::vector<bool> in_;
};

}  // namespace

bool Regex::Class::Has(std::int32_t c) const {
  if (c < 0) return false;
  const auto in = [&](std::int32_t x) {
    const auto after = std::upper_bound(ranges.begin(), ranges.end(),
                                        std::pair{x, std::numeric_limits<std::int32_t>::max()});
    return after != ranges.begin() && x <= std::prev(after)->second;
  };
  bool has = in(c);
  if (ignores_case && !has) {
    // The letters that differ from c by case only; k, s and a few others have a third.
    const std::int32_t lower = LowerOf(c);
    has = in(lower) || in(UpperOf(lower)) || in(UpperOf(c)) || (lower == 'k' && in(0x212A)) ||
          ((lower == 's' || c == 0x17F) && (in(0x17F) || in('s'))) ||
          ((lower == 0x3C3 || c == 0x3C2) && (in(0x3C2) || in(0x3C3)));
  }
  return has != negated;
}

Result<Regex> Regex::Parse(std::string_view pattern) {
  NPUKIT_ASSIGN_OR_RETURN(const RegexNode tree, ParseChecked(pattern));
  Writer w;
  NPUKIT_RETURN_IF_ERROR(w.Write(tree));
  w.program.push_back({Kind::kMatch, {}, 0, 0});
  Regex r;
  r.program_ = std::move(w.program);
  r.classes_ = std::move(w.classes);
  return r;
}

Result<double> Regex::Steps(std::string_view pattern) {
  NPUKIT_ASSIGN_OR_RETURN(const RegexNode tree, ParseChecked(pattern));
  return WrittenSize(tree) + 1;
}

bool Regex::FullMatch(std::string_view text) const {
  Threads now(program_.size()), next(program_.size());
  next.Add(0);
  std::int32_t before = kOutside;
  std::size_t at = 0;
  for (;;) {
    std::swap(now, next);
    next.Clear();
    const bool end = at >= text.size();
    const std::int32_t c = end ? kOutside : NextCodePoint(text, &at);
    bool matched = false;
    for (std::size_t i = 0; i < now.list.size(); ++i) {  // the list grows
      const std::uint32_t k = now.list[i];
      const Instruction& x = program_[k];
      switch (x.kind) {
        case Kind::kClass:
          if (!end && classes_[x.a].Has(c)) next.Add(k + 1);
          break;
        case Kind::kSplit:
          now.Add(x.a);
          now.Add(x.b);
          break;
        case Kind::kJump:
          now.Add(x.a);
          break;
        case Kind::kAssert:
          if (Holds(x.what, before, c)) now.Add(k + 1);
          break;
        case Kind::kMatch:
          matched = end;
          break;
      }
      if (matched) return true;
    }
    if (end || next.list.empty()) return false;
    before = c;
  }
}

}  // namespace npukit::ops
