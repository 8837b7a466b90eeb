#include <algorithm>
#include <unordered_map>

#include "base/text.h"
#include "ops/strings.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::DType;
using tensor::Value;

constexpr std::int64_t kMostColumns = std::int64_t{1} << 26;

// One word of an n-gram; texts begin with their length, so that joined words stay apart.
std::string Word(const std::string& s) { return Cat(s.size(), ":", s); }
std::string Word(std::int64_t n) { return Cat(n, ";"); }

struct Pool {
  bool strings = false;
  std::vector<std::string> words;
  Ints counts;   // where the n-grams of each length begin
  Ints columns;  // of each n-gram
  Floats weights;
  std::int64_t width = 0;  // of the result

  // Of the n-grams of n words.
  std::int64_t Begin(std::size_t n) const { return counts[n - 1]; }
  std::int64_t End(std::size_t n) const {
    return n < counts.size() ? counts[n] : static_cast<std::int64_t>(words.size());
  }
};

Result<Pool> PoolOf(const Attrs& attrs) {
  Pool p;
  p.strings = HasAttr(attrs, "pool_strings");
  if (p.strings == HasAttr(attrs, "pool_int64s"))
    return InvalidArgument("expected one of pool_strings and pool_int64s");
  for (const std::string& s : StringList(attrs, "pool_strings")) p.words.push_back(Word(s));
  for (const std::int64_t n : attrs.IntList("pool_int64s")) p.words.push_back(Word(n));
  p.counts = attrs.IntList("ngram_counts");
  p.columns = attrs.IntList("ngram_indexes");
  p.weights = attrs.FloatList("weights");
  std::int64_t grams = 0;
  for (std::size_t n = 1; n <= p.counts.size(); ++n) {
    const std::int64_t begin = p.Begin(n), end = p.End(n);
    if (begin < 0 || end < begin || end > static_cast<std::int64_t>(p.words.size()) ||
        (n == 1 && begin != 0)) {
      return InvalidArgument(Cat("ngram_counts is ", JoinInts(p.counts, ","),
                                 ", expected rising places in a pool of ", p.words.size(),
                                 " words, from 0"));
    }
    const auto length = static_cast<std::int64_t>(n);
    if ((end - begin) % length != 0) {
      return InvalidArgument(Cat("the pool has ", end - begin, " words for n-grams of ", n,
                                 ": that is no whole number"));
    }
    grams += (end - begin) / length;
  }
  if (p.counts.empty() && !p.words.empty()) return InvalidArgument("ngram_counts is empty");
  if (static_cast<std::int64_t>(p.columns.size()) != grams) {
    return InvalidArgument(
        Cat("ngram_indexes names ", p.columns.size(), " columns for ", grams, " n-grams"));
  }
  if (!p.weights.empty() && p.weights.size() != p.columns.size()) {
    return InvalidArgument(Cat("there are ", p.weights.size(), " weights for ", grams, " n-grams"));
  }
  for (const std::int64_t c : p.columns) {
    if (c < 0 || c >= kMostColumns)
      return InvalidArgument(Cat("ngram_indexes names column ", c, ", expected 0 to 2^26 - 1"));
    p.width = std::max(p.width, c + 1);
  }
  const std::string_view mode = attrs.String("mode");
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF")
    return InvalidArgument(Cat("mode is ", Printable(mode), ", expected TF, IDF or TFIDF"));
  const std::int64_t least = attrs.Int("min_gram_length"), most = attrs.Int("max_gram_length");
  if (least < 1 || most < least || attrs.Int("max_skip_count") < 0) {
    return InvalidArgument(Cat("n-grams of ", least, " to ", most, " words with at most ",
                               attrs.Int("max_skip_count"),
                               " left out: expected 1 <= least <= most, and no negative number"));
  }
  return p;
}

Status Infer(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(WantOneOf(c, 0, {DType::kString, DType::kI32, DType::kI64}));
  NPUKIT_ASSIGN_OR_RETURN(const Pool p, PoolOf(c.attrs));
  const DType t = c.inputs[0].dtype;
  if (t != DType::kUndefined && (t == DType::kString) != p.strings) {
    return InvalidArgument(Cat("input 0 is ", tensor::DTypeName(t), ", but the pool holds ",
                               p.strings ? "strings" : "integers"));
  }
  c.outputs[0] = tensor::Type::Tensor(DType::kF32, std::nullopt);
  if (!c.inputs[0].shape) return OkStatus();
  tensor::Shape shape = *c.inputs[0].shape;
  if (shape.rank() != 1 && shape.rank() != 2) {
    return InvalidArgument(
        Cat("input 0 is ", c.inputs[0].ToString(), ", expected one dimension or two"));
  }
  shape.dims.back() = tensor::Dim::Of(p.width);
  c.outputs[0].shape = std::move(shape);
  return OkStatus();
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  NPUKIT_ASSIGN_OR_RETURN(const Pool p, PoolOf(*c.attrs));
  const Value& x = c.inputs[0];
  std::vector<std::string> words;
  for (std::int64_t i = 0; i < x.count(); ++i) {
    words.push_back(p.strings ? Word(x.strings()[static_cast<std::size_t>(i)])
                              : Word(tensor::ElementAsInt64(x, i)));
  }
  const std::int64_t least = c.attrs->Int("min_gram_length");
  const std::int64_t most = std::min<std::int64_t>(c.attrs->Int("max_gram_length"),
                                                   static_cast<std::int64_t>(p.counts.size()));
  // N-grams of these lengths, by their words. Of equal ones the first counts.
  std::unordered_map<std::string, std::size_t> grams;
  std::size_t gram = 0;
  for (std::size_t n = 1; n <= p.counts.size(); ++n) {
    for (std::int64_t i = p.Begin(n); i < p.End(n); i += static_cast<std::int64_t>(n), ++gram) {
      if (static_cast<std::int64_t>(n) < least || static_cast<std::int64_t>(n) > most) continue;
      std::string key;
      for (std::size_t k = 0; k < n; ++k) key += p.words[static_cast<std::size_t>(i) + k];
      grams.try_emplace(std::move(key), gram);
    }
  }
  const std::int64_t row = x.dims().back();
  const std::int64_t rows = x.dims().size() == 2 ? x.dims()[0] : 1;
  const std::int64_t skips = c.attrs->Int("max_skip_count");
  const std::string_view mode = c.attrs->String("mode");
  std::vector<double> found(p.columns.size());
  std::vector<double> sums(static_cast<std::size_t>(p.width));
  for (std::int64_t r = 0; r < rows; ++r) {
    std::fill(found.begin(), found.end(), 0);
    for (std::int64_t n = least; n <= most; ++n) {
      if (p.Begin(static_cast<std::size_t>(n)) == p.End(static_cast<std::size_t>(n))) continue;
      for (std::int64_t skip = 0; skip <= (n == 1 ? 0 : skips); ++skip) {
        if (n > 1 && skip + 1 > (row - 1) / (n - 1)) break;  // longer than the row
        const std::int64_t step = skip + 1;
        for (std::int64_t i = 0; i + (n - 1) * step < row; ++i) {
          std::string key;
          for (std::int64_t k = 0; k < n; ++k)
            key += words[static_cast<std::size_t>(r * row + i + k * step)];
          if (const auto it = grams.find(key); it != grams.end()) found[it->second] += 1;
        }
      }
    }
    std::fill(sums.begin(), sums.end(), 0);
    for (std::size_t g = 0; g < found.size(); ++g) {
      const double weight = mode == "TF" || p.weights.empty() ? 1 : double{p.weights[g]};
      const double count = mode == "IDF" ? std::min(found[g], 1.0) : found[g];
      sums[static_cast<std::size_t>(p.columns[g])] += count * weight;
    }
    for (std::int64_t k = 0; k < p.width; ++k)
      Store(y, r * p.width + k, sums[static_cast<std::size_t>(k)]);
  }
  return OkStatus();
}

// Every n-gram of every length and skip is put together from its words and looked up.
OpCost GramCost(const CostContext& c) {
  OpCost cost{.vector_ops = 10 * CountOf(c.outputs[0]), .bytes = AllBytes(c)};
  if (!c.inputs[0].is_static() || c.inputs[0].dims().empty()) return cost;
  const double words = CountOf(c.inputs[0]);
  const auto row = static_cast<double>(c.inputs[0].dims().back());
  const auto lengths = static_cast<double>(c.attrs.IntList("ngram_counts").size());
  const double least = std::max(static_cast<double>(c.attrs.Int("min_gram_length")), 1.0);
  const double most = std::min(static_cast<double>(c.attrs.Int("max_gram_length")), lengths);
  const double skips = std::max(static_cast<double>(c.attrs.Int("max_skip_count")), 0.0);
  for (double n = least; n <= most; ++n)
    cost.vector_ops += 10 * words * n * (n == 1 ? 1 : std::min(skips + 1, row / (n - 1)));
  if (row > 0)
    cost.vector_ops += words / row * static_cast<double>(c.attrs.IntList("ngram_indexes").size());
  return cost;
}

constexpr AttrDef kAttrs[] = {{"max_gram_length", AttrKind::kInt, true},
                              {"max_skip_count", AttrKind::kInt, true},
                              {"min_gram_length", AttrKind::kInt, true},
                              {"mode", AttrKind::kString, true},
                              {"ngram_counts", AttrKind::kInts, true},
                              {"ngram_indexes", AttrKind::kInts, true},
                              {"pool_int64s", AttrKind::kInts},
                              {"pool_strings", AttrKind::kStrings},
                              {"weights", AttrKind::kFloats}};

}  // namespace

constinit const OpDef op::tf_idf_vectorizer = {
    .name = "tf_idf_vectorizer",
    .summary = "how often each n-gram of a pool occurs in a row of words, weighted",
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = GramCost,
    .foreign = {.onnx = "TfIdfVectorizer"},
};

}  // namespace npukit
