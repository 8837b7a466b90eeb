#include <algorithm>

#include "base/text.h"
#include "ops/given.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Dim;
using tensor::DType;
using tensor::Value;

constexpr std::size_t kCos = 1, kSin = 2, kPositions = 3;

// x as batch, sequence, heads and head size.
struct Places {
  Dim batch, sequence, heads, size;
};

Result<Places> PlacesOf(const tensor::Type& x, const Attrs& attrs) {
  const auto& d = x.shape->dims;
  if (d.size() == 4) return Places{d[0], d[2], d[1], d[3]};
  if (d.size() != 3) return InvalidArgument(Cat("x is ", x.ToString(), ", expected rank 3 or 4"));
  const std::int64_t heads = attrs.Int("num_heads", 0);
  if (heads < 1) return InvalidArgument(Cat("x has rank 3, which needs num_heads, found ", heads));
  if (!d[2].known()) return Places{d[0], d[1], Dim::Of(heads), {}};
  if (d[2].value % heads != 0) {
    return InvalidArgument(
        Cat("x is ", x.ToString(), ", which does not split into ", heads, " heads"));
  }
  return Places{d[0], d[1], Dim::Of(heads), Dim::Of(d[2].value / heads)};
}

// How many numbers of a head are turned; 0: not known.
Result<std::int64_t> Turned(const Attrs& attrs, const Dim& size) {
  const std::int64_t given = attrs.Int("rotary_embedding_dim", 0);
  const std::int64_t n = given != 0 ? given : size.known() ? size.value : 0;
  if (n >= 0 && n % 2 == 0 && (!size.known() || n <= size.value)) return n;
  return InvalidArgument(Cat("rotary_embedding_dim is ", n, ", expected an even number up to ",
                             size.known() ? Cat(size.value) : "the head size"));
}

Status Infer(InferContext& c) {
  NPUKIT_RETURN_IF_ERROR(WantFloat(c, 0));
  NPUKIT_RETURN_IF_ERROR(WantSameDType(c, 0, kCos));
  NPUKIT_RETURN_IF_ERROR(WantSameDType(c, 0, kSin));
  c.outputs[0] = c.inputs[0];
  if (Has(c, kPositions) && c.inputs[kPositions].dtype != DType::kUndefined &&
      c.inputs[kPositions].dtype != DType::kI64) {
    return InvalidArgument(
        Cat("positions are ", c.inputs[kPositions].ToString(), ", expected int64"));
  }
  if (!c.inputs[0].shape) return OkStatus();
  NPUKIT_ASSIGN_OR_RETURN(const Places x, PlacesOf(c.inputs[0], c.attrs));
  NPUKIT_ASSIGN_OR_RETURN(const std::int64_t turned, Turned(c.attrs, x.size));
  const bool by_position = IsGiven(c, kPositions);
  const Dim half = turned > 0 || x.size.known() ? Dim::Of(turned / 2) : Dim{};
  for (const std::size_t i : {kCos, kSin}) {
    if (!c.inputs[i].shape) continue;
    const auto& d = c.inputs[i].shape->dims;
    bool fits = d.size() == (by_position ? 2 : 3) && SameDim(d.back(), half).ok();
    if (fits && !by_position) fits = SameDim(d[0], x.batch).ok() && SameDim(d[1], x.sequence).ok();
    if (!fits) {
      return InvalidArgument(Cat("the table of input ", i, " is ", c.inputs[i].ToString(),
                                 ", expected [", by_position ? "positions" : "batch, sequence",
                                 ", ", half.known() ? Cat(half.value) : "half of what is turned",
                                 "] for x ", c.inputs[0].ToString()));
    }
  }
  if (by_position && c.inputs[kPositions].shape) {
    const auto& d = c.inputs[kPositions].shape->dims;
    if (d.size() != 2 || !SameDim(d[0], x.batch).ok() || !SameDim(d[1], x.sequence).ok()) {
      return InvalidArgument(Cat("positions are ", c.inputs[kPositions].ToString(),
                                 ", expected [batch, sequence] of x ", c.inputs[0].ToString()));
    }
  }
  return OkStatus();
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(Value y, MakeOutput(c, Infer));
  const Value& x = c.inputs[0];
  const Value positions = c.inputs.size() > kPositions ? c.inputs[kPositions] : Value();
  NPUKIT_ASSIGN_OR_RETURN(const Places p, PlacesOf(x.type(), *c.attrs));
  NPUKIT_ASSIGN_OR_RETURN(const std::int64_t turned, Turned(*c.attrs, p.size));
  const std::int64_t half = turned / 2, size = p.size.value;
  const bool interleaved = c.attrs->Int("interleaved", 0) != 0;
  const bool packed = x.dims().size() == 3;
  CopyAll(y, x);                          // what is not turned
  if (y.count() == 0) return OkStatus();  // however many heads it claims
  for (std::int64_t b = 0; b < p.batch.value; ++b) {
    for (std::int64_t s = 0; s < p.sequence.value; ++s) {
      std::int64_t row = b * p.sequence.value + s;
      if (positions.present()) {
        const std::int64_t given = tensor::ElementAsInt64(positions, row);
        const std::int64_t rows = std::min(c.inputs[kCos].dims()[0], c.inputs[kSin].dims()[0]);
        if (given < 0 || given >= rows) {
          return InvalidArgument(Cat("position ", given, " is outside tables of ", rows, " rows"));
        }
        row = given;
      }
      for (std::int64_t h = 0; h < p.heads.value; ++h) {
        const std::int64_t at = packed ? ((b * p.sequence.value + s) * p.heads.value + h) * size
                                       : ((b * p.heads.value + h) * p.sequence.value + s) * size;
        for (std::int64_t i = 0; i < half; ++i) {
          const std::int64_t first = at + (interleaved ? 2 * i : i);
          const std::int64_t second = interleaved ? first + 1 : first + half;
          const double cosine = Load(c.inputs[kCos], row * half + i);
          const double sine = Load(c.inputs[kSin], row * half + i);
          const double u = Load(x, first), v = Load(x, second);
          Store(y, first, cosine * u - sine * v);
          Store(y, second, sine * u + cosine * v);
        }
      }
    }
  }
  return OkStatus();
}

constexpr AttrDef kAttrs[] = {{"interleaved", AttrKind::kInt},
                              {"num_heads", AttrKind::kInt},
                              {"rotary_embedding_dim", AttrKind::kInt}};

OpCost RotaryCost(const CostContext& c) {
  return {.vector_ops = 3 * CountOf(c.outputs[0]), .bytes = AllBytes(c)};
}

}  // namespace

constinit const OpDef op::rotary_embedding = {
    .name = "rotary_embedding",
    .summary =
        "pairs of numbers of each head, turned by the angle of their position, whose cosine "
        "and sine come from tables",
    .min_inputs = 3,
    .max_inputs = 4,
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = RotaryCost,
    .foreign = {.onnx = "RotaryEmbedding"},
};

}  // namespace npukit
