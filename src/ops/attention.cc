#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/text.h"
#include "ops/given.h"
#include "ops/outputs.h"
#include "ops/quant.h"
#include "ops/rules.h"

namespace npukit {
namespace {

using namespace ops;
using tensor::Dim;
using tensor::Dims;
using tensor::DType;
using tensor::Shape;
using tensor::Type;
using tensor::Value;

constexpr std::size_t kMask = 3, kPastKey = 4, kPastValue = 5, kLengths = 6;

// q, k or v as [batch, heads, length, width]; unknown sizes stay unknown.
struct Heads {
  Dim batch, heads, length, width;
};

Result<Heads> HeadsOf(const Type& t, std::int64_t heads, const char* name) {
  const auto& d = t.shape->dims;
  if (d.size() == 4) return Heads{d[0], d[1], d[2], d[3]};
  if (d.size() != 3)
    return InvalidArgument(Cat(name, " is ", t.ToString(), ", expected rank 3 or 4"));
  if (heads < 1) {
    return InvalidArgument(
        Cat(name, " has rank 3, which needs the number of heads, found ", heads));
  }
  if (!d[2].known()) return Heads{d[0], Dim::Of(heads), d[1], {}};
  if (d[2].value % heads != 0) {
    return InvalidArgument(
        Cat(name, " is ", t.ToString(), ", which does not split into ", heads, " heads"));
  }
  return Heads{d[0], Dim::Of(heads), d[1], Dim::Of(d[2].value / heads)};
}

Result<Dim> Same(const Dim& a, const Dim& b, const char* what) {
  auto d = SameDim(a, b);
  if (!d.ok()) return InvalidArgument(Cat(what, ": ", a.value, " and ", b.value, " differ"));
  return d;
}

Result<Dim> Sum(const Dim& a, const Dim& b) {
  if (!a.known() || !b.known()) return Dim{};
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a.value, b.value, &sum))
    return InvalidArgument(Cat("lengths ", a.value, " and ", b.value, " overflow"));
  return Dim::Of(sum);
}

Status CheckMask(const InferContext& c, const Shape& scores) {
  if (!Has(c, kMask) || !c.inputs[kMask].shape) return OkStatus();
  const auto& mask = c.inputs[kMask].shape->dims;
  bool fits = !mask.empty() && mask.size() <= 4;
  for (std::size_t i = 0; fits && i < mask.size(); ++i) {
    const Dim& to = scores.dims[4 - mask.size() + i];
    if (!mask[i].known() || !to.known()) continue;
    const bool last = i + 1 == mask.size();  // a short mask hides the rest
    fits = last ? mask[i].value <= to.value : mask[i].value == 1 || mask[i].value == to.value;
  }
  if (fits) return OkStatus();
  return InvalidArgument(Cat("the mask is ", c.inputs[kMask].ToString(),
                             ", which does not broadcast to the scores ", scores.ToString()));
}

// Results: y, present key, present value, scores.
Status Infer(InferContext& c) {
  for (const std::size_t i : {0, 1, 2}) NPUKIT_RETURN_IF_ERROR(WantFloat(c, i));
  NPUKIT_RETURN_IF_ERROR(WantSameDType(c, 0, 1));
  if (Has(c, kMask) && c.inputs[kMask].dtype != DType::kBool)
    NPUKIT_RETURN_IF_ERROR(WantNumber(c, kMask));
  const bool past = IsGiven(c, kPastKey) || IsGiven(c, kPastValue);
  if (past && !(MayBeGiven(c, kPastKey) && MayBeGiven(c, kPastValue)))
    return InvalidArgument("past key and past value go together, found one of them");
  if (past) {
    NPUKIT_RETURN_IF_ERROR(WantSameDType(c, 1, kPastKey));
    NPUKIT_RETURN_IF_ERROR(WantSameDType(c, 2, kPastValue));
  }
  if (Has(c, kLengths)) {
    NPUKIT_RETURN_IF_ERROR(WantIndexList(c, kLengths, false));
    if (Has(c, kPastKey))
      return InvalidArgument(
          "lengths of keys (nonpad_kv_seqlen) and a past key exclude each other");
  }
  NPUKIT_RETURN_IF_ERROR(
      DTypeAttr(c.attrs, "softmax_precision", IsRealFloat, "a floating type").status());
  const std::int64_t mode = c.attrs.Int("qk_matmul_output_mode", 0);
  if (mode < 0 || mode > 3)
    return InvalidArgument(Cat("qk_matmul_output_mode is ", mode, ", expected 0 to 3"));
  const DType tq = c.inputs[0].dtype, tv = c.inputs[2].dtype;
  c.outputs[0] = Type::Tensor(tq, std::nullopt);
  c.outputs[1] = Type::Tensor(c.inputs[1].dtype, std::nullopt);
  c.outputs[2] = Type::Tensor(tv, std::nullopt);
  c.outputs[3] = Type::Tensor(tq, std::nullopt);
  if (!c.inputs[0].shape || !c.inputs[1].shape || !c.inputs[2].shape) return OkStatus();
  if (c.inputs[0].shape->rank() != c.inputs[1].shape->rank() ||
      c.inputs[0].shape->rank() != c.inputs[2].shape->rank()) {
    return InvalidArgument(Cat("q, k and v must have one rank, found ", c.inputs[0].ToString(),
                               ", ", c.inputs[1].ToString(), " and ", c.inputs[2].ToString()));
  }
  NPUKIT_ASSIGN_OR_RETURN(Heads q, HeadsOf(c.inputs[0], c.attrs.Int("q_num_heads", 0), "q"));
  NPUKIT_ASSIGN_OR_RETURN(Heads k, HeadsOf(c.inputs[1], c.attrs.Int("kv_num_heads", 0), "k"));
  NPUKIT_ASSIGN_OR_RETURN(Heads v, HeadsOf(c.inputs[2], c.attrs.Int("kv_num_heads", 0), "v"));
  NPUKIT_ASSIGN_OR_RETURN(q.batch, Same(q.batch, k.batch, "batches of q and k"));
  NPUKIT_ASSIGN_OR_RETURN(q.batch, Same(q.batch, v.batch, "batches of q and v"));
  NPUKIT_ASSIGN_OR_RETURN(q.width, Same(q.width, k.width, "head sizes of q and k"));
  NPUKIT_ASSIGN_OR_RETURN(k.heads, Same(k.heads, v.heads, "heads of k and v"));
  NPUKIT_ASSIGN_OR_RETURN(k.length, Same(k.length, v.length, "lengths of k and v"));
  if (q.heads.known() && k.heads.known() &&
      (k.heads.value < 1 || q.heads.value % k.heads.value != 0)) {
    return InvalidArgument(Cat("q has ", q.heads.value, " heads, expected a multiple of the ",
                               k.heads.value, " of k"));
  }
  Dim total = k.length;
  if (past) {
    total = Dim{};
    const auto &pk = c.inputs[kPastKey], &pv = c.inputs[kPastValue];
    if (pk.shape && pv.shape) {
      if (pk.shape->rank() != 4 || pv.shape->rank() != 4) {
        return InvalidArgument(Cat("past key and value are ", pk.ToString(), " and ", pv.ToString(),
                                   ", expected rank 4"));
      }
      const Shape want_k({q.batch, k.heads, pv.shape->dims[2], q.width});
      const Shape want_v({q.batch, k.heads, pk.shape->dims[2], v.width});
      for (std::size_t i = 0; i < 4; ++i) {
        NPUKIT_RETURN_IF_ERROR(Same(pk.shape->dims[i], want_k.dims[i], "past key").status());
        NPUKIT_RETURN_IF_ERROR(Same(pv.shape->dims[i], want_v.dims[i], "past value").status());
      }
      NPUKIT_ASSIGN_OR_RETURN(total, Sum(pk.shape->dims[2], k.length));
    }
  }
  if (Has(c, kLengths) && c.inputs[kLengths].shape) {
    NPUKIT_RETURN_IF_ERROR(
        Same(c.inputs[kLengths].shape->dims[0], q.batch, "lengths of keys and batch").status());
  }
  const Shape scores({q.batch, q.heads, q.length, total});
  NPUKIT_RETURN_IF_ERROR(CheckMask(c, scores));
  if (c.inputs[0].shape->rank() == 4) {
    c.outputs[0].shape = Shape({q.batch, q.heads, q.length, v.width});
  } else {
    Dim hidden;
    if (q.heads.known() && v.width.known()) {
      std::int64_t n = 0;
      if (__builtin_mul_overflow(q.heads.value, v.width.value, &n))
        return InvalidArgument("the size of the result overflows");
      hidden = Dim::Of(n);
    }
    c.outputs[0].shape = Shape({q.batch, q.length, hidden});
  }
  c.outputs[1].shape = Shape({q.batch, k.heads, total, q.width});
  c.outputs[2].shape = Shape({q.batch, k.heads, total, v.width});
  c.outputs[3].shape = scores;
  return OkStatus();
}

// Where row (batch, head, position) of a tensor of either rank begins.
struct Rows {
  std::int64_t heads, length, width;
  bool packed;  // rank 3: [batch, length, heads * width]
  std::int64_t At(std::int64_t b, std::int64_t h, std::int64_t i) const {
    return packed ? ((b * length + i) * heads + h) * width : ((b * heads + h) * length + i) * width;
  }
};

// present = past, then the new rows.
void Join(Value& present, const Value& past, const Value& fresh, const Rows& rows,
          std::int64_t batch) {
  if (present.count() == 0) return;  // however many heads an empty tensor claims
  const std::int64_t before = past.present() ? past.dims()[2] : 0;
  const std::int64_t total = before + rows.length;
  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t h = 0; h < rows.heads; ++h) {
      const std::int64_t first = b * rows.heads + h;
      for (std::int64_t j = 0; j < before * rows.width; ++j)
        CopyElement(present, first * total * rows.width + j, past, first * before * rows.width + j);
      for (std::int64_t i = 0; i < rows.length; ++i) {
        for (std::int64_t j = 0; j < rows.width; ++j) {
          CopyElement(present, (first * total + before + i) * rows.width + j, fresh,
                      rows.At(b, h, i) + j);
        }
      }
    }
  }
}

// What is added to the scores: the mask (false: minus infinity), what causality and the lengths of
// the keys hide.
class Bias {
 public:
  Bias(const EvalContext& c, const Dims& scores)
      : causal_(c.attrs->Int("is_causal", 0) != 0), total_(scores[3]) {
    const auto at = [&](std::size_t i) { return i < c.inputs.size() ? c.inputs[i] : Value(); };
    mask_ = at(kMask);
    lengths_ = at(kLengths);
    past_ = at(kPastKey).present() ? at(kPastKey).dims()[2] : 0;
    if (!mask_.present()) return;
    Dims to(scores.end() - static_cast<std::ptrdiff_t>(mask_.dims().size()), scores.end());
    to.back() = width_ = mask_.dims().back();
    strides_ = BroadcastStrides(mask_.dims(), to);
    strides_.insert(strides_.begin(), 4 - strides_.size(), 0);
    strides_[3] = 1;
  }
  double At(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const {
    constexpr double kHidden = -std::numeric_limits<double>::infinity();
    if (causal_ && j > past_ + i) return kHidden;
    if (lengths_.present() && j >= tensor::ElementAsInt64(lengths_, b)) return kHidden;
    if (!mask_.present()) return 0;
    if (j >= width_) return kHidden;
    const std::int64_t at = b * strides_[0] + h * strides_[1] + i * strides_[2] + j;
    if (mask_.dtype() == DType::kBool) return LoadBits(mask_, at) != 0 ? 0 : kHidden;
    return Load(mask_, at);
  }

 private:
  Value mask_, lengths_;
  Dims strides_;
  bool causal_;
  std::int64_t total_, past_ = 0, width_ = 0;
};

void Softmax(std::vector<double>& row) {
  double top = -std::numeric_limits<double>::infinity();
  for (const double x : row) top = std::fmax(top, x);
  double sum = 0;
  for (double& x : row) sum += x = std::exp(x - top);
  for (double& x : row) x /= sum;
}

Status Reference(EvalContext& c) {
  NPUKIT_ASSIGN_OR_RETURN(std::vector<Value> out, MakeOutputs(c, Infer, 4));
  const Value& q = c.inputs[0];
  const bool packed = q.dims().size() == 3;
  const Dims scores = out[3].dims();
  const std::int64_t batch = scores[0], heads = scores[1], length = scores[2], total = scores[3];
  const std::int64_t kv_heads = out[1].dims()[1], width = out[1].dims()[3];
  const std::int64_t v_width = out[2].dims()[3];
  const std::int64_t fresh = packed ? c.inputs[1].dims()[1] : c.inputs[1].dims()[2];
  const auto past = [&](std::size_t i) { return i < c.inputs.size() ? c.inputs[i] : Value(); };
  Join(out[1], past(kPastKey), c.inputs[1], {kv_heads, fresh, width, packed}, batch);
  Join(out[2], past(kPastValue), c.inputs[2], {kv_heads, fresh, v_width, packed}, batch);

  if (out[0].count() == 0 && out[3].count() == 0) return OkStatus();
  const double scale = c.attrs->Find("scale") != nullptr
                           ? c.attrs->Float("scale")
                           : 1 / std::sqrt(static_cast<double>(width));
  const double cap = c.attrs->Float("softcap", 0);
  const std::int64_t mode = c.attrs->Int("qk_matmul_output_mode", 0);
  NPUKIT_ASSIGN_OR_RETURN(const DType precision,
                          DTypeAttr(*c.attrs, "softmax_precision", IsRealFloat, "a floating type"));
  const Bias bias(c, scores);
  const Rows q_rows{heads, length, width, packed}, y_rows{heads, length, v_width, packed};
  std::vector<double> row(static_cast<std::size_t>(total));
  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t h = 0; h < heads; ++h) {
      const std::int64_t kv = b * kv_heads + h / (heads / kv_heads);
      for (std::int64_t i = 0; i < length; ++i) {
        const std::int64_t first = ((b * heads + h) * length + i) * total;
        for (std::int64_t j = 0; j < total; ++j) {
          double& x = row[static_cast<std::size_t>(j)];
          x = 0;
          for (std::int64_t d = 0; d < width; ++d)
            x += Load(q, q_rows.At(b, h, i) + d) * Load(out[1], (kv * total + j) * width + d);
          x *= scale;
          if (mode == 0) Store(out[3], first + j, x);
          if (cap > 0) x = cap * std::tanh(x / cap);
          if (mode == 1) Store(out[3], first + j, x);
          x += bias.At(b, h, i, j);
          if (mode == 2) Store(out[3], first + j, x);
          if (precision != DType::kUndefined) x = RoundTo(precision, x);
        }
        Softmax(row);
        for (std::int64_t j = 0; mode == 3 && j < total; ++j)
          Store(out[3], first + j, row[static_cast<std::size_t>(j)]);
        for (std::int64_t d = 0; d < v_width; ++d) {
          double sum = 0;
          for (std::int64_t j = 0; j < total; ++j)
            sum += row[static_cast<std::size_t>(j)] * Load(out[2], (kv * total + j) * v_width + d);
          Store(out[0], y_rows.At(b, h, i) + d, sum);
        }
      }
    }
  }
  return OkStatus();
}

OpCost AttentionCost(const CostContext& c) {
  const double scores = CountOf(c.outputs[3]);
  OpCost cost{.vector_ops = 15 * scores, .bytes = AllBytes(c)};
  if (c.outputs[1].is_static() && c.outputs[2].is_static()) {
    cost.macs = scores * static_cast<double>(c.outputs[1].dims()[3] + c.outputs[2].dims()[3]);
  }
  return cost;
}

constexpr AttrDef kAttrs[] = {
    {"is_causal", AttrKind::kInt},        {"kv_num_heads", AttrKind::kInt},
    {"q_num_heads", AttrKind::kInt},      {"qk_matmul_output_mode", AttrKind::kInt},
    {"scale", AttrKind::kFloat},          {"softcap", AttrKind::kFloat},
    {"softmax_precision", AttrKind::kInt}};

}  // namespace

constinit const OpDef op::attention = {
    .name = "attention",
    .summary =
        "softmax(q k' * scale + mask) v for heads that may share keys and values, with a "
        "cache; results: y, present key, present value, scores at the step that is asked for",
    .min_inputs = 3,
    .max_inputs = 7,
    .outputs = 4,
    .attrs = kAttrs,
    .infer = Infer,
    .reference = Reference,
    .cost = AttentionCost,
    .foreign = {.onnx = "Attention"},
};

}  // namespace npukit
