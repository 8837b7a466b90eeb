// com.microsoft: attention with projections, biases, masks and caches that optimisers fuse into
// one node. Each becomes our attention and what prepares its inputs.
#include <limits>

#include "importers/onnx/composites/build.h"

namespace npukit::importers::onnx {

namespace {

using tensor::DType;

// What ends as our attention: q [batch, length, heads * size], k and v likewise.
struct Parts {
  ir::ValueId q = ir::kNoValue, k = ir::kNoValue, v = ir::kNoValue;
  ir::ValueId mask = ir::kNoValue;  // added to the scores
  ir::ValueId past_key = ir::kNoValue, past_value = ir::kNoValue;
};

ops::Attrs Settings(const Emitter& e) {
  const std::int64_t heads = e.op.attrs.Int("num_heads", 0);
  ops::Attrs attrs = Attributes({{"q_num_heads", heads},
                                 {"kv_num_heads", heads},
                                 {"is_causal", e.op.attrs.Int("unidirectional", 0)}});
  if (const float scale = e.op.attrs.Float("scale", 0); scale != 0) attrs.Set("scale", scale);
  return attrs;
}

// 0 where a mask of numbers says "take part", the filter value elsewhere.
ir::ValueId Filtered(Emitter& e, Build& b, ir::ValueId kept, DType t) {
  return b(op::where,
           {kept, b.Scalar(t, 0), b.Scalar(t, e.op.attrs.Float("mask_filter_value", -10000.0f))});
}

// The mask input in any of its forms, as something that is added to the scores: ends of each
// sequence [batch], or a number for each key [batch, total] or each pair [batch, length, total].
Result<Outcome> Mask(Emitter& e, Build& b, std::size_t input, Parts& parts, DType t) {
  if (!e.has(input)) return Outcome::GoOn();
  const auto rank = e.Rank(input);
  if (!rank) return UnknownRank("the mask");
  const DType tm = e.Type(input).dtype;
  if (tm != DType::kI32 && tm != DType::kI64 && tm != DType::kBool) return UnknownType("the mask");
  const ir::ValueId mask = e.input(input);
  if (*rank == 1) {
    const tensor::Dim size = e.Type(input).shape->dims[0];
    const tensor::Type x = e.Type(0);
    if (!x.shape || x.shape->rank() == 0 || !(x.shape->dims[0] == size)) {
      return Outcome::Foreign("a mask of starts and ends, or of a batch that is not known",
                              "export with a mask for each key");
    }
    ir::ValueId total = b.Size(parts.k, 1);
    if (parts.past_key != ir::kNoValue) total = b(op::add, {total, b.Size(parts.past_key, 2)});
    const ir::ValueId zero = b.Scalar(DType::kI64, 0), one = b.Scalar(DType::kI64, 1);
    const ir::ValueId keys = b(op::range, {zero, b(op::reshape, {total, b.Ints({})}), one});
    const ir::ValueId ends = b.Reshape(b.Cast(mask, DType::kI64), {-1, 1, 1, 1});
    parts.mask = Filtered(e, b, b(op::less, {keys, ends}), t);
    return Outcome::GoOn();
  }
  if (*rank > 3) {
    return Outcome::Foreign("a mask of four dimensions", "export with a mask for each key");
  }
  ir::ValueId kept = tm == DType::kBool ? mask : b(op::greater, {mask, b.Scalar(tm, 0)});
  kept =
      b(op::unsqueeze, {kept}, Attributes({{"axes", *rank == 2 ? ops::Ints{1, 2} : ops::Ints{1}}}));
  parts.mask = Filtered(e, b, kept, t);
  return Outcome::GoOn();
}

void AddBias(Emitter& e, Build& b, std::size_t input, Parts& parts) {
  if (!e.has(input)) return;
  parts.mask =
      parts.mask == ir::kNoValue ? e.input(input) : b(op::add, {parts.mask, e.input(input)});
}

// Our attention; y to output 0, the caches to values of their own.
void Attend(Emitter& e, Build& b, const Parts& p, ir::ValueId key, ir::ValueId value) {
  if (!b.ok()) return;
  const Status s =
      e.EmitAll(op::attention, Settings(e), {p.q, p.k, p.v, p.mask, p.past_key, p.past_value},
                {e.op.outputs[0], key, value});
  if (!s.ok()) b.Fail(s);
}

// past and present of one value: [2, batch, heads, length, size].
void ReadPast(Emitter& e, Build& b, std::size_t input, Parts& parts) {
  if (!e.has(input)) return;
  const ops::Attrs first = Attributes({{"axes", ops::Ints{0}}});
  parts.past_key = b(op::squeeze, {b.Slice(e.input(input), 0, 1, 0)}, first);
  parts.past_value = b(op::squeeze, {b.Slice(e.input(input), 1, 2, 0)}, first);
}

void WritePresent(Build& b, ir::ValueId key, ir::ValueId value) {
  const ops::Attrs first = Attributes({{"axes", ops::Ints{0}}});
  b.To(1, op::concat, {b(op::unsqueeze, {key}, first), b(op::unsqueeze, {value}, first)},
       Attributes({{"axis", std::int64_t{0}}}));
}

std::optional<Outcome> WhyNot(const Emitter& e) {
  if (e.op.attrs.Int("num_heads", 0) < 1) return Outcome::Foreign("num_heads is not given");
  if (e.op.attrs.Int("do_rotary", 0) != 0)
    return Outcome::Foreign("do_rotary is set", "export with RotaryEmbedding nodes");
  if (e.op.attrs.Int("past_present_share_buffer", 0) != 0)
    return Outcome::Foreign("past and present share a buffer", "export without sharing");
  return std::nullopt;
}

// Projected x in three parts; `width` is the size of its last dimension.
Result<Outcome> SplitProjection(Emitter& e, Build& b, ir::ValueId x, const tensor::Type& weights,
                                Parts& parts) {
  ops::Ints sizes = e.op.attrs.IntList("qkv_hidden_sizes");
  if (sizes.empty()) {
    if (!weights.shape || weights.shape->rank() != 2 || !weights.shape->dims[1].known())
      return Outcome::Foreign("the shape of the weights is not known");
    sizes.assign(3, weights.shape->dims[1].value / 3);
  }
  if (sizes.size() != 3) {
    return InvalidArgument(Cat("qkv_hidden_sizes has ", sizes.size(), " numbers, expected 3"));
  }
  for (const std::int64_t s : sizes) {
    if (s < 1 || s > std::int64_t{1} << 40)
      return InvalidArgument(Cat("qkv_hidden_sizes holds ", s, ", expected 1 or more"));
  }
  parts.q = b.Slice(x, 0, sizes[0], 2);
  parts.k = b.Slice(x, sizes[0], sizes[0] + sizes[1], 2);
  parts.v = b.Slice(x, sizes[0] + sizes[1], sizes[0] + sizes[1] + sizes[2], 2);
  return Outcome::GoOn();
}

}  // namespace

Result<Outcome> ImportMicrosoftAttention(Emitter& e) {
  if (const auto why = WhyNot(e)) return *why;
  if (!e.has(0) || !e.has(1)) return InvalidArgument("Attention needs an input and weights");
  const DType t = e.Type(0).dtype;
  if (!tensor::IsFloat(t)) return UnknownType("the input");
  Build b(e);
  Parts parts;
  const ir::ValueId x = b(op::matmul, {e.input(0), e.input(1), e.input(2)});
  NPUKIT_ASSIGN_OR_RETURN(Outcome outcome, SplitProjection(e, b, x, e.Type(1), parts));
  if (outcome.kind != Outcome::Kind::kGoOn) return outcome;
  ReadPast(e, b, 4, parts);
  NPUKIT_ASSIGN_OR_RETURN(outcome, Mask(e, b, 3, parts, t));
  if (outcome.kind != Outcome::Kind::kGoOn) return outcome;
  AddBias(e, b, 5, parts);
  const ir::ValueId key = e.Fresh(), value = e.Fresh();
  Attend(e, b, parts, key, value);
  WritePresent(b, key, value);
  return b.Done();
}

// The projection in integers; past and mask as above.
Result<Outcome> ImportMicrosoftQAttention(Emitter& e) {
  constexpr std::size_t kX = 0, kWeights = 1, kBias = 2, kXScale = 3, kWScale = 4, kMask = 5,
                        kXZero = 6, kWZero = 7, kPast = 8;
  if (const auto why = WhyNot(e)) return *why;
  if (!e.has(kX) || !e.has(kWeights) || !e.has(kBias) || !tensor::IsFloat(e.Type(kBias).dtype))
    return UnknownType("the bias");
  const DType t = e.Type(kBias).dtype;
  Build b(e);
  Parts parts;
  const ir::ValueId sum =
      b(op::matmul_integer, {e.input(kX), e.input(kWeights), e.input(kXZero), e.input(kWZero)});
  const ir::ValueId scale = b(op::mul, {e.input(kXScale), e.input(kWScale)});
  const ir::ValueId x = b(op::add, {b(op::mul, {b.Cast(sum, t), scale}), e.input(kBias)});
  NPUKIT_ASSIGN_OR_RETURN(Outcome outcome, SplitProjection(e, b, x, e.Type(kWeights), parts));
  if (outcome.kind != Outcome::Kind::kGoOn) return outcome;
  ReadPast(e, b, kPast, parts);
  NPUKIT_ASSIGN_OR_RETURN(outcome, Mask(e, b, kMask, parts, t));
  if (outcome.kind != Outcome::Kind::kGoOn) return outcome;
  const ir::ValueId key = e.Fresh(), value = e.Fresh();
  Attend(e, b, parts, key, value);
  WritePresent(b, key, value);
  return b.Done();
}

// Queries, keys and values already projected, with one bias for all three.
Result<Outcome> ImportMicrosoftMultiHeadAttention(Emitter& e) {
  if (const auto why = WhyNot(e)) return *why;
  if (!e.has(1) || !e.has(2) || e.Rank(0).value_or(3) != 3 || e.Rank(1).value_or(3) != 3) {
    return Outcome::Foreign("queries, keys and values packed, or keys that are a cache",
                            "export them as three inputs of three dimensions");
  }
  if (e.has(8) || e.has(9)) return Outcome::Foreign("a shared buffer for the cache");
  if (e.op.outputs.size() > 3) return Outcome::Foreign("the scores are read");
  const DType t = e.Type(0).dtype;
  if (!tensor::IsFloat(t)) return UnknownType("the query");
  Build b(e);
  Parts parts{e.input(0), e.input(1), e.input(2), ir::kNoValue, e.input(6), e.input(7)};
  if (e.has(3)) {
    const auto q = e.Type(0).shape;
    const auto k = e.Type(1).shape;
    if (!q || !k || !q->dims[2].known() || !k->dims[2].known())
      return Outcome::Foreign("a bias, and the width of query or key is not known");
    const std::int64_t nq = q->dims[2].value, nk = k->dims[2].value;
    constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
    parts.q = b(op::add, {parts.q, b.Slice(e.input(3), 0, nq, 0)});
    parts.k = b(op::add, {parts.k, b.Slice(e.input(3), nq, nq + nk, 0)});
    parts.v = b(op::add, {parts.v, b.Slice(e.input(3), nq + nk, kEnd, 0)});
  }
  NPUKIT_ASSIGN_OR_RETURN(Outcome outcome, Mask(e, b, 4, parts, t));
  if (outcome.kind != Outcome::Kind::kGoOn) return outcome;
  AddBias(e, b, 5, parts);
  const auto output = [&](std::size_t i) {
    return i < e.op.outputs.size() ? e.op.outputs[i] : e.Fresh();
  };
  Attend(e, b, parts, output(1), output(2));
  return b.Done();
}

}  // namespace npukit::importers::onnx
