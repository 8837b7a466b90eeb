#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

#include "base/text.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Dim;
using tensor::Dims;
using tensor::Value;

// Indices of the equation as numbers: letters, then the dimensions under "..." counted from the
// last, so that ellipses of different length line up as numpy broadcasts them.
constexpr int kLetters = 52;
constexpr std::size_t kMaxEllipsis = 64;
constexpr std::size_t kLabels = kLetters + kMaxEllipsis;
constexpr int kEllipsis = -1;
constexpr double kMaxWork = 0x1p40;  // multiplications of one step

using Term = std::vector<int>;  // letters and at most one kEllipsis
struct Equation {
  std::vector<Term> terms;
  Term result;
  bool has_result = false;
};

Result<Equation> Parse(std::string_view text) {
  Equation eq;
  Term term;
  const auto bad = [&](const char* what) {
    return InvalidArgument(Cat("attribute equation is ", Printable(text), ": ", what));
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char ch = text[i];
    if (ch == ' ') continue;
    if (ch == ',' && !eq.has_result) {
      eq.terms.push_back(std::exchange(term, {}));
    } else if (ch == '-' && text.substr(i, 2) == "->" && !eq.has_result) {
      eq.terms.push_back(std::exchange(term, {}));
      eq.has_result = true;
      ++i;
    } else if (ch == '.' && text.substr(i, 3) == "...") {
      if (std::find(term.begin(), term.end(), kEllipsis) != term.end())
        return bad("a term has two ellipses");
      term.push_back(kEllipsis);
      i += 2;
    } else if ((ch >= 'A' && ch <= 'Z') || (ch >= 'a' && ch <= 'z')) {
      const int label = ch <= 'Z' ? ch - 'A' : ch - 'a' + 26;
      const bool twice = eq.has_result && std::find(term.begin(), term.end(), label) != term.end();
      if (twice) return bad("an index of the result is named twice");
      term.push_back(label);
    } else {
      return bad("expected letters, commas, \"...\" and one \"->\"");
    }
  }
  (eq.has_result ? eq.result : eq.terms.emplace_back()) = std::move(term);
  std::array<int, kLetters> seen{};
  for (const Term& t : eq.terms) {
    for (const int label : t) {
      if (label != kEllipsis) ++seen[static_cast<std::size_t>(label)];
    }
  }
  if (eq.has_result) {
    for (const int label : eq.result) {
      if (label != kEllipsis && seen[static_cast<std::size_t>(label)] == 0)
        return bad("an index of the result is in no operand");
    }
  } else {  // the ellipsis, then every letter that occurs once, in the order of ASCII
    eq.result.push_back(kEllipsis);
    for (int label = 0; label < kLetters; ++label) {
      if (seen[static_cast<std::size_t>(label)] == 1) eq.result.push_back(label);
    }
  }
  return eq;
}

// The labels of each dimension of a tensor of that rank.
Result<std::vector<int>> Labels(const Term& term, std::size_t rank, std::size_t operand) {
  const bool ellipsis = std::find(term.begin(), term.end(), kEllipsis) != term.end();
  const std::size_t letters = term.size() - (ellipsis ? 1 : 0);
  if (rank < letters || (rank > letters && !ellipsis) || rank - letters > kMaxEllipsis) {
    return InvalidArgument(Cat("input ", operand, " has rank ", rank, ", the equation gives it ",
                               ellipsis ? "at least " : "", letters, " indices"));
  }
  std::vector<int> labels;
  for (const int label : term) {
    if (label != kEllipsis) {
      labels.push_back(label);
      continue;
    }
    for (std::size_t k = rank - letters; k-- > 0;) labels.push_back(kLetters + static_cast<int>(k));
  }
  return labels;
}

// The size of an index: equal everywhere, or 1, which is stretched.
Status Merge(Dim& have, const Dim& more, std::size_t operand) {
  if (have == more || (more.known() && more.value == 1)) return OkStatus();
  if (!have.known()) {
    have = more.known() ? more : Dim{};
  } else if (have.value == 1) {
    have = more;
  } else if (more.known()) {
    return InvalidArgument(
        Cat("an index has size ", have.value, " and, in input ", operand, ", size ", more.value));
  }
  return OkStatus();
}

Status Infer(InferContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(const Equation eq, Parse(c.attrs.String("equation")));
  if (eq.terms.size() != c.inputs.size()) {
    return InvalidArgument(
        Cat("the equation has ", eq.terms.size(), " operands, found ", c.inputs.size(), " inputs"));
  }
  tensor::DType t = tensor::DType::kUndefined;
  std::array<Dim, kLabels> sizes{};
  std::array<bool, kLabels> given{};
  std::size_t ellipsis = 0;  // the longest
  bool ellipsis_known = true;
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    NPUKIT_RETURN_IF_ERROR(WantNumber(c, i));
    NPUKIT_RETURN_IF_ERROR(WantSameDType(c, 0, i));
    if (t == tensor::DType::kUndefined) t = c.inputs[i].dtype;
    const Term& term = eq.terms[i];
    const bool has_ellipsis = std::find(term.begin(), term.end(), kEllipsis) != term.end();
    if (!c.inputs[i].shape) {
      if (has_ellipsis) ellipsis_known = false;
      for (const int label : term) {  // of a size not known
        if (label == kEllipsis) continue;
        const auto l = static_cast<std::size_t>(label);
        if (std::exchange(given[l], true)) NPUKIT_RETURN_IF_ERROR(Merge(sizes[l], Dim{}, i));
      }
      continue;
    }
    const std::vector<Dim>& dims = c.inputs[i].shape->dims;
    NPUKIT_ASSIGN_OR_RETURN(const std::vector<int> labels, Labels(term, dims.size(), i));
    if (has_ellipsis) ellipsis = std::max(ellipsis, dims.size() + 1 - term.size());
    for (std::size_t d = 0; d < dims.size(); ++d) {
      for (std::size_t e = 0; e < d; ++e) {
        if (labels[d] != labels[e]) continue;
        const auto same = SameDim(dims[d], dims[e]);  // a diagonal is of a square
        if (!same.ok()) {
          return InvalidArgument(Cat("input ", i, ": an index that is named twice has sizes ",
                                     dims[e].value, " and ", dims[d].value));
        }
      }
      const auto l = static_cast<std::size_t>(labels[d]);
      if (std::exchange(given[l], true)) {
        NPUKIT_RETURN_IF_ERROR(Merge(sizes[l], dims[d], i));
      } else {
        sizes[l] = dims[d];
      }
    }
  }
  c.outputs[0] = tensor::Type::Tensor(t, std::nullopt);
  std::vector<Dim> dims;
  for (const int label : eq.result) {
    if (label != kEllipsis) {
      dims.push_back(sizes[static_cast<std::size_t>(label)]);
      continue;
    }
    if (!ellipsis_known) return OkStatus();
    for (std::size_t k = ellipsis; k-- > 0;) dims.push_back(sizes[kLetters + k]);
  }
  c.outputs[0].shape = tensor::Shape(std::move(dims));
  return OkStatus();
}

// A dense tensor of numbers to compute with: double, or 64 bits that wrap.
template <class T>
struct Factor {
  std::vector<int> labels;
  Dims dims;
  std::vector<T> data;

  // How far one step along each of `along` moves; 0 where this has no such index, or only one.
  Dims StridesAlong(const std::vector<int>& along) const {
    const Dims dense = tensor::DenseStrides(dims);
    Dims strides(along.size(), 0);
    for (std::size_t i = 0; i < along.size(); ++i) {
      for (std::size_t d = 0; d < dims.size(); ++d) {
        if (labels[d] == along[i] && dims[d] != 1) strides[i] += dense[d];  // a diagonal adds up
      }
    }
    return strides;
  }
};

bool Contains(const std::vector<int>& v, int x) {
  return std::find(v.begin(), v.end(), x) != v.end();
}

// The product of both, summed over every index that is not in `keep`.
template <class T>
Result<Factor<T>> Product(const Factor<T>& a, const Factor<T>& b, const std::vector<int>& keep) {
  std::vector<int> all, summed;
  for (const auto* labels : {&a.labels, &b.labels}) {
    for (const int l : *labels) {
      if (!Contains(all, l)) all.push_back(l);
    }
  }
  const auto lengths = [&](const std::vector<int>& labels) {
    Dims dims;
    for (const int l : labels) {
      // Of these two alone: an index that a later operand stretches is still 1 here.
      std::int64_t n = 1;
      for (const Factor<T>* f : {&a, &b}) {
        for (std::size_t d = 0; d < f->dims.size(); ++d) {
          if (f->labels[d] == l && f->dims[d] != 1) n = f->dims[d];
        }
      }
      dims.push_back(n);
    }
    return dims;
  };
  Factor<T> y;
  for (const int l : keep) {
    if (Contains(all, l)) y.labels.push_back(l);
  }
  for (const int l : all) {
    if (!Contains(keep, l)) summed.push_back(l);
  }
  y.dims = lengths(y.labels);
  Dims inner = lengths(summed);
  double work = 1;
  for (const std::int64_t n : y.dims) work *= static_cast<double>(n);
  const double elements = work;
  for (const std::int64_t n : inner) work *= static_cast<double>(n);
  if (work > kMaxWork || elements * sizeof(T) > static_cast<double>(tensor::kMaxValueBytes)) {
    return ResourceExhausted(Cat("a step needs ", work, " multiplications and ", elements,
                                 " numbers of memory, the limit is ", kMaxWork,
                                 ": split the equation"));
  }
  y.data.assign(static_cast<std::size_t>(elements), T{0});
  const std::array<Dims, 2> outer_strides{a.StridesAlong(y.labels), b.StridesAlong(y.labels)};
  const std::array<Dims, 2> inner_strides{a.StridesAlong(summed), b.StridesAlong(summed)};
  ForEachIndex<2>(y.dims, outer_strides, [&](std::int64_t i, const auto* from) {
    T sum{0};
    ForEachIndex<2>(inner, inner_strides, [&](std::int64_t, const auto* at) {
      sum += a.data[static_cast<std::size_t>(from[0] + at[0])] *
             b.data[static_cast<std::size_t>(from[1] + at[1])];
    });
    y.data[static_cast<std::size_t>(i)] = sum;
  });
  return y;
}

template <class T>
Factor<T> Read(const Value& v, std::vector<int> labels) {
  Factor<T> f{std::move(labels), v.dims(), std::vector<T>(static_cast<std::size_t>(v.count()))};
  for (std::int64_t i = 0; i < v.count(); ++i) {
    if constexpr (std::is_same_v<T, double>) {
      f.data[static_cast<std::size_t>(i)] = Load(v, i);
    } else {
      f.data[static_cast<std::size_t>(i)] = LoadBits(v, i);
    }
  }
  return f;
}

template <class T>
Status Compute(std::span<const Value> inputs, const std::vector<std::vector<int>>& labels,
               const std::vector<int>& result, Value& y) {
  Factor<T> running{{}, {}, {T{1}}};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto used_elsewhere = [&](int label) {
      if (Contains(result, label)) return true;
      for (std::size_t k = 0; k < labels.size(); ++k) {
        if (k > i && Contains(labels[k], label)) return true;
      }
      return false;
    };
    // First what only this operand has: its diagonals, and the sums that no other takes part in.
    std::vector<int> own, keep;
    for (const int l : labels[i]) {
      if (!Contains(own, l) && (used_elsewhere(l) || Contains(running.labels, l))) own.push_back(l);
    }
    const Factor<T> one{{}, {}, {T{1}}};
    NPUKIT_ASSIGN_OR_RETURN(const Factor<T> next, Product(Read<T>(inputs[i], labels[i]), one, own));
    const bool last = i + 1 == inputs.size();
    if (last) {
      keep = result;  // in the order asked for
    } else {
      for (const Factor<T>* from : {&std::as_const(running), &next}) {
        for (const int l : from->labels) {
          if (used_elsewhere(l) && !Contains(keep, l)) keep.push_back(l);
        }
      }
    }
    NPUKIT_ASSIGN_OR_RETURN(running, Product(running, next, keep));
  }
  if (running.data.size() != static_cast<std::size_t>(y.count()))
    return Internal("the result has another size than inferred");
  for (std::int64_t i = 0; i < y.count(); ++i) {
    if constexpr (std::is_same_v<T, double>) {
      Store(y, i, running.data[static_cast<std::size_t>(i)]);
    } else {
      StoreBits(y, i, running.data[static_cast<std::size_t>(i)]);
    }
  }
  return OkStatus();
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  NPUKIT_ASSIGN_OR_RETURN(const Equation eq, Parse(c.attrs->String("equation")));
  std::vector<std::vector<int>> labels;
  std::size_t ellipsis = 0;
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    const Dims& dims = c.inputs[i].dims();
    NPUKIT_ASSIGN_OR_RETURN(labels.emplace_back(), Labels(eq.terms[i], dims.size(), i));
    for (const int l : labels.back()) {
      if (l >= kLetters) ellipsis = std::max(ellipsis, static_cast<std::size_t>(l - kLetters) + 1);
    }
  }
  std::vector<int> result;
  for (const int label : eq.result) {
    if (label != kEllipsis) {
      result.push_back(label);
      continue;
    }
    for (std::size_t k = ellipsis; k-- > 0;) result.push_back(kLetters + static_cast<int>(k));
  }
  return IsRealFloat(y.dtype()) ? Compute<double>(c.inputs, labels, result, y)
                                : Compute<std::uint64_t>(c.inputs, labels, result, y);
}

// The steps of Compute: each operand alone, then its product with what came before, over all
// indices of both.
OpCost EinsumCost(const CostContext& c) {
  OpCost cost{.bytes = AllBytes(c)};
  const auto eq = Parse(c.attrs.String("equation"));
  if (!eq.ok() || eq->terms.size() != c.inputs.size()) return cost;
  std::array<double, kLabels> sizes;
  sizes.fill(1);
  std::array<std::size_t, kLabels> last{};  // the last operand that has it
  std::vector<std::vector<int>> labels;
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    if (!c.inputs[i].is_static()) return cost;
    const Dims dims = c.inputs[i].dims();
    auto of = Labels(eq->terms[i], dims.size(), i);
    if (!of.ok()) return cost;
    for (std::size_t d = 0; d < dims.size(); ++d) {
      const auto l = static_cast<std::size_t>((*of)[d]);
      sizes[l] = std::max(sizes[l], static_cast<double>(dims[d]));
      last[l] = i;
    }
    labels.push_back(std::move(of).value());
  }
  const bool ellipsis = Contains(eq->result, kEllipsis);
  std::array<bool, kLabels> running{};
  for (std::size_t i = 0; i < labels.size(); ++i) {
    cost.vector_ops += CountOf(c.inputs[i]);
    for (const int l : labels[i]) running[static_cast<std::size_t>(l)] = true;
    double work = 1;
    for (std::size_t l = 0; l < kLabels; ++l) {
      if (!running[l]) continue;
      work *= sizes[l];
      const int label = static_cast<int>(l);
      running[l] = last[l] > i || (label >= kLetters ? ellipsis : Contains(eq->result, label));
    }
    (i == 0 ? cost.vector_ops : cost.macs) += work;
  }
  return cost;
}

constexpr AttrDef kAttrs[] = {{"equation", AttrKind::kString, true}};

}  // namespace

constinit const OpDef op::einsum = {
    .name = "einsum",
    .summary = "products of any number of operands, summed over indices, as an equation says",
    .min_inputs = 1,
    .max_inputs = -1,
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = EinsumCost,
    .loop = LoopShape::kOther,
    .layout = LayoutRule::kFixed,
    .foreign = {.onnx = "Einsum"},
};

}  // namespace npukit
