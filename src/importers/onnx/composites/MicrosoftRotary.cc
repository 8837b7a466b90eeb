// com.microsoft: rotary embeddings, and the attention of language models, which turns its queries
// and keys itself and keeps a cache.
#include <limits>

#include "importers/onnx/composites/build.h"

namespace npukit::importers::onnx {

namespace {

using tensor::DType;

ir::ValueId AsNumber(Build& b, ir::ValueId x) {  // one number of any rank as an int64 scalar
  return b(op::reshape, {b.Cast(x, DType::kI64), b.Ints({})});
}

// 0, 1, ... below a size given as a list of one number.
ir::ValueId Counting(Build& b, ir::ValueId size) {
  return b(op::range, {b.Scalar(DType::kI64, 0), b(op::reshape, {size, b.Ints({})}),
                       b.Scalar(DType::kI64, 1)});
}

// How much of a head the tables turn; 0: all of it, or not known.
std::int64_t TableWidth(const Emitter& e, std::size_t table) {
  const auto shape = e.Type(table).shape;
  if (!shape || shape->rank() != 2 || !shape->dims[1].known()) return 0;
  const std::int64_t half = shape->dims[1].value;
  return half > std::numeric_limits<std::int64_t>::max() / 2 ? 0 : 2 * half;
}

}  // namespace

Result<Outcome> ImportMicrosoftRotaryEmbedding(Emitter& e) {
  if (e.op.attrs.Int("is_packed_batching", 0) != 0 || e.op.attrs.Float("scale", 1) != 1)
    return Outcome::Foreign("is_packed_batching or a scale", "export without them");
  if (!e.has(0) || !e.has(1) || !e.has(2)) return InvalidArgument("RotaryEmbedding needs 4 inputs");
  const auto rank = e.Rank(0);
  if (!rank) return UnknownRank("the input");
  if (!e.Rank(1)) return UnknownRank("position_ids");
  Build b(e);
  ops::Attrs attrs = Only(e.op.attrs, {"interleaved", "num_heads", "rotary_embedding_dim"});
  if (*rank == 3 && attrs.Int("num_heads", 0) == 0) {  // heads as wide as the tables say
    const tensor::Dim hidden = e.Type(0).shape->dims[2];
    const std::int64_t width = TableWidth(e, 2);
    if (!hidden.known() || width < 1 || hidden.value % width != 0)
      return Outcome::Foreign("the number of heads is not known", "set num_heads");
    attrs.Set("num_heads", hidden.value / width);
  }
  ir::ValueId positions = e.input(1);
  if (*e.Rank(1) == 1) {  // the first position of every sequence
    const ir::ValueId length = b.Size(e.input(0), *rank == 3 ? 1 : 2);
    positions = b(op::add, {Counting(b, length), AsNumber(b, positions)});
    const ir::ValueId shape =
        b(op::concat, {b.Size(e.input(0), 0), length}, Attributes({{"axis", std::int64_t{0}}}));
    positions = b(op::expand, {positions, shape});
  }
  b.To(0, op::rotary_embedding, {e.input(0), e.input(2), e.input(3), positions}, std::move(attrs));
  return b.Done();
}

namespace {

constexpr std::size_t kPastKey = 3, kPastValue = 4, kLengths = 5, kTotal = 6, kCos = 7, kSin = 8,
                      kPositions = 9, kBias = 10;

std::optional<Outcome> WhyNot(const Emitter& e) {
  const ops::Attrs& a = e.op.attrs;
  for (std::size_t i = 11; i < e.op.inputs.size(); ++i) {
    if (e.has(i))
      return Outcome::Foreign(
          Cat("input ", i, " (sinks, scales, norms, lengths of queries) is given"),
          "export without it");
  }
  if (e.op.outputs.size() > 3) return Outcome::Foreign("the scores are read");
  if (a.Int("smooth_softmax", -1) == 1 || a.Int("sliding_window_cache", 0) != 0 ||
      a.Int("causal", 1) == 0) {
    return Outcome::Foreign("smooth_softmax, sliding_window_cache or causal = 0");
  }
  for (const char* name : {"num_heads", "kv_num_heads"}) {
    if (const std::int64_t n = a.Int(name, 0); n < 1 || n > 1 << 20)
      return Outcome::Foreign(Cat(name, " is ", n, ", expected 1 to ", 1 << 20));
  }
  if (!e.has(0) || !tensor::IsFloat(e.Type(0).dtype)) return UnknownType("the query");
  if (!e.has(kLengths) || !e.has(kTotal))
    return Outcome::Foreign("seqlens_k or total_sequence_length is not given");
  return std::nullopt;
}

// [batch, length, heads * size] as [batch, heads, length, size].
ir::ValueId Apart(Build& b, ir::ValueId x, std::int64_t heads) {
  return b.Transpose(b.Reshape(x, {0, 0, heads, -1}), {0, 2, 1, 3});
}

struct Cache {
  ir::ValueId start;   // [batch]: where the new rows go
  ir::ValueId length;  // [1]: of the result
  ir::ValueId fresh;   // [1]: number of new rows
};

// What was kept, and the new rows behind it; zeros after them.
ir::ValueId Present(Emitter& e, Build& b, std::size_t past, ir::ValueId fresh, const Cache& c) {
  const bool kept = e.has(past);
  const ir::ValueId whole = kept ? e.input(past) : fresh;
  const ir::ValueId more = b(op::sub, {c.length, b.Size(whole, 2)});
  const ir::ValueId pads = b(op::concat, {b.Ints({0, 0, 0, 0, 0, 0}), more, b.Ints({0})},
                             Attributes({{"axis", std::int64_t{0}}}));
  const ir::ValueId room = b(op::pad, {whole, pads});
  if (!kept) return room;
  const ir::ValueId places = b.Reshape(Counting(b, c.length), {-1, 1});
  const ir::ValueId ends = b.Reshape(b(op::add, {c.start, c.fresh}), {-1, 1, 1, 1});
  return b(op::where, {b(op::less, {places, ends}), b(op::tensor_scatter, {room, fresh, c.start}),
                       b.Scalar(e.Type(0).dtype, 0)});
}

}  // namespace

Result<Outcome> ImportMicrosoftGroupQueryAttention(Emitter& e) {
  if (const auto why = WhyNot(e)) return *why;
  const std::int64_t heads = e.op.attrs.Int("num_heads"), kv = e.op.attrs.Int("kv_num_heads");
  const DType t = e.Type(0).dtype;
  Build b(e);
  ir::ValueId q = e.input(0), k = e.input(1), v = e.input(2);
  if (!e.has(1)) {  // all three in one
    const auto shape = e.Type(0).shape;
    if (!shape || shape->rank() != 3 || !shape->dims[2].known())
      return Outcome::Foreign("packed queries, keys and values of a width that is not known");
    const std::int64_t all = heads + 2 * kv, width = shape->dims[2].value;
    if (all < 1 || width % all != 0)
      return InvalidArgument(Cat("a width of ", width, " does not split into ", all, " heads"));
    const std::int64_t size = width / all;
    q = b.Slice(e.input(0), 0, heads * size, 2);
    k = b.Slice(e.input(0), heads * size, (heads + kv) * size, 2);
    v = b.Slice(e.input(0), (heads + kv) * size, width, 2);
  }
  // Every sequence ends at its own place. Its new rows come right before the end, but for the first
  // prompt, which begins at 0 and is padded behind.
  Cache cache;
  const ir::ValueId one = b.Ints({1}), zero = b.Ints({0});
  const ir::ValueId ends =
      b(op::add, {b.Reshape(b.Cast(e.input(kLengths), DType::kI64), {-1}), one});
  const ir::ValueId total = b.Reshape(b.Cast(e.input(kTotal), DType::kI64), {1});
  cache.fresh = b.Size(q, 1);
  cache.start =
      b(op::where, {b(op::equal, {cache.fresh, total}), zero, b(op::sub, {ends, cache.fresh})});
  cache.length = e.has(kPastKey) ? b(op::max, {b.Size(e.input(kPastKey), 2), total}) : total;
  const ir::ValueId starts = b.Reshape(cache.start, {-1, 1});
  const ir::ValueId rows = b(op::add, {Counting(b, cache.fresh), starts});  // [batch, length]
  q = Apart(b, q, heads);
  k = Apart(b, k, kv);
  v = Apart(b, v, kv);
  if (e.op.attrs.Int("do_rotary", 0) != 0) {
    if (!e.has(kCos) || !e.has(kSin))
      return InvalidArgument("do_rotary is set, the tables are missing");
    const ir::ValueId positions = e.has(kPositions) ? e.input(kPositions) : rows;
    const ops::Attrs attrs = Attributes({{"interleaved", e.op.attrs.Int("rotary_interleaved", 0)},
                                         {"rotary_embedding_dim", TableWidth(e, kCos)}});
    q = b(op::rotary_embedding, {q, e.input(kCos), e.input(kSin), positions}, attrs);
    k = b(op::rotary_embedding, {k, e.input(kCos), e.input(kSin), positions}, attrs);
  }
  k = Present(e, b, kPastKey, k, cache);
  v = Present(e, b, kPastValue, v, cache);
  b.To(1, op::identity, {k});
  b.To(2, op::identity, {v});

  const ir::ValueId keys = Counting(b, cache.length);
  const ir::ValueId rows4 =
      b(op::unsqueeze, {rows}, Attributes({{"axes", ops::Ints{1, 3}}}));  // [batch, 1, length, 1]
  ir::ValueId mask = b(op::less_or_equal, {keys, rows4});
  if (const std::int64_t window = e.op.attrs.Int("local_window_size", -1); window > 0) {
    const ir::ValueId oldest = b(op::sub, {rows4, b.Ints({window})});
    mask = b(op::logical_and, {mask, b(op::greater, {keys, oldest})});
  }
  if (e.has(kBias)) {
    const ir::ValueId bias = e.input(kBias);
    const ir::ValueId more = b(op::sub, {cache.length, b.Size(bias, 3)});
    const ir::ValueId pads = b(op::concat, {b.Ints({0, 0, 0, 0, 0, 0, 0}), more},
                               Attributes({{"axis", std::int64_t{0}}}));
    mask = b(op::where, {mask, b(op::pad, {bias, pads}),
                         b.Scalar(t, -std::numeric_limits<double>::infinity())});
  }
  ops::Attrs attrs = Only(e.op.attrs, {"softcap"});
  if (const float scale = e.op.attrs.Float("scale", 0); scale != 0) attrs.Set("scale", scale);
  if (!b.ok()) return b.Done();
  const ir::ValueId y = e.Fresh();
  NPUKIT_RETURN_IF_ERROR(e.EmitAll(op::attention, std::move(attrs), {q, k, v, mask}, {y}));
  const ir::ValueId together = b.Transpose(y, {0, 2, 1, 3});
  b.To(0, op::reshape, {together, b.Ints({0, 0, -1})});
  return b.Done();
}

}  // namespace npukit::importers::onnx
