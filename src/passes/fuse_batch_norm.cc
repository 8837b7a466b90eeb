// Constants that scale and shift a channel go into the weights and bias of the conv2d,
// conv_transpose2d or matmul next to them: batch_normalization, and mul, div, add, sub by a
// constant (one number or one per channel), behind it; before a conv2d or matmul too, a shift only
// where nothing is padded (padding is not shifted). New weights are computed in double and rounded
// once. Agreement: 1e-5 of the largest result.
#include <cmath>
#include <vector>

#include "passes/list.h"
#include "passes/rewrite.h"

namespace npukit::passes {
namespace {

using ir::kNoValue;
using ir::ValueId;
using Doubles = std::vector<double>;

// y[c] = scale[c] * x[c] + shift[c].
struct ChannelAffine {
  ValueId x = kNoValue;
  Doubles scale;
  Doubles shift;
};

const tensor::Value* F32(const ir::Graph& g, ValueId id) {
  const tensor::Value* v = g.constant(id);
  return v && v->is_tensor() && v->dtype() == tensor::DType::kF32 ? v : nullptr;
}

// A constant as one number per channel of `x`, whose channels are dimension `axis` of `rank`; empty
// when it is something else, or would broadcast x to a larger shape.
Doubles PerChannel(const tensor::Value& v, std::size_t rank, std::size_t axis,
                   std::size_t channels) {
  if (v.dims().size() > rank) return {};
  const auto data = v.as<float>();
  if (v.count() == 1) return Doubles(channels, data[0]);
  const std::size_t missing = rank - v.dims().size();
  if (axis < missing || static_cast<std::size_t>(v.count()) != channels ||
      static_cast<std::size_t>(v.dims()[axis - missing]) != channels) {
    return {};
  }
  return Doubles(data.begin(), data.end());
}

// The node as a channel affine of its one variable input.
std::optional<ChannelAffine> MatchAffine(const ir::Graph& g, const ir::Node& n, std::size_t rank,
                                         std::size_t axis, std::size_t channels) {
  if (n.is_foreign() || !n.epilogue.empty()) return std::nullopt;
  ChannelAffine a;
  if (n.op == &op::batch_normalization) {
    const std::size_t channel_axis = n.attrs.String("layout", "NCHW") == "NHWC" ? rank - 1 : 1;
    if (channel_axis != axis) return std::nullopt;
    const tensor::Value* p[4];
    for (std::size_t i = 0; i < 4; ++i) {
      p[i] = F32(g, n.inputs[i + 1]);
      if (!p[i] || static_cast<std::size_t>(p[i]->count()) != channels) return std::nullopt;
    }
    a.x = n.inputs[0];
    const double epsilon = n.attrs.Float("epsilon", 1e-5f);
    for (std::size_t c = 0; c < channels; ++c) {
      a.scale.push_back(p[0]->as<float>()[c] / std::sqrt(p[3]->as<float>()[c] + epsilon));
      a.shift.push_back(p[1]->as<float>()[c] - p[2]->as<float>()[c] * a.scale[c]);
    }
    return a;
  }
  const auto m = MatchWithConstant(g, n);
  if (!m || !F32(g, m->constant)) return std::nullopt;
  const Doubles k = PerChannel(*F32(g, m->constant), rank, axis, channels);
  if (k.empty()) return std::nullopt;
  a.x = m->x;
  a.scale.assign(channels, 1);
  a.shift.assign(channels, 0);
  for (std::size_t c = 0; c < channels; ++c) {
    if (n.op == &op::mul) {
      a.scale[c] = k[c];
    } else if (n.op == &op::div && !m->constant_first && k[c] != 0) {
      a.scale[c] = 1 / k[c];
    } else if (n.op == &op::add) {
      a.shift[c] = k[c];
    } else if (n.op == &op::sub) {
      a.scale[c] = m->constant_first ? -1 : 1;
      a.shift[c] = m->constant_first ? k[c] : -k[c];
    } else {
      return std::nullopt;
    }
  }
  return a;
}

// conv2d, conv_transpose2d or matmul with constant fp32 weights.
struct Producer {
  const tensor::Value* weights = nullptr;
  const tensor::Value* bias = nullptr;
  std::size_t rank = 0;  // of its result
  std::size_t axis = 0;  // of the channels in its result
  std::size_t channels = 0;
};
std::optional<Producer> AsProducer(const ir::Graph& g, const ir::Node& n) {
  const bool conv = n.op == &op::conv2d;
  const bool transposed = n.op == &op::conv_transpose2d;
  if ((!conv && !transposed && n.op != &op::matmul) || !n.epilogue.empty()) return std::nullopt;
  Producer p;
  p.weights = F32(g, n.inputs[1]);
  if (!p.weights) return std::nullopt;
  if (n.inputs.size() > 2 && n.inputs[2] != kNoValue) {
    p.bias = F32(g, n.inputs[2]);
    if (!p.bias) return std::nullopt;
  }
  const tensor::Dims& w = p.weights->dims();
  if (conv || transposed) {
    const std::int64_t group = n.attrs.Int("group", 1);
    if (w.size() != 4 || p.weights->count() == 0 || group < 1 || w[0] % group != 0)
      return std::nullopt;
    p.rank = 4;
    p.axis = n.attrs.String("layout", "NCHW") == "NHWC" ? 3 : 1;
    p.channels = static_cast<std::size_t>(conv ? w[0] : w[1] * n.attrs.Int("group", 1));
  } else {
    const tensor::Type& out = g.value(n.outputs[0]).type;
    if (w.size() != 2 || !out.shape || out.shape->rank() < 2) return std::nullopt;
    p.rank = out.shape->rank();
    p.axis = p.rank - 1;
    p.channels = static_cast<std::size_t>(w[1]);
  }
  if (p.channels == 0 || (p.bias && static_cast<std::size_t>(p.bias->count()) != p.channels))
    return std::nullopt;
  return p;
}

// The output channel that element i of the weights adds to.
std::size_t OutChannel(const ir::Node& n, const tensor::Dims& w, std::size_t i) {
  if (n.op == &op::matmul) return i % static_cast<std::size_t>(w[1]);
  const auto plane = static_cast<std::size_t>(w[1] * w[2] * w[3]);
  if (n.op == &op::conv2d) return i / plane;
  const auto per_group = static_cast<std::size_t>(w[1]);
  const std::size_t in_per_group = static_cast<std::size_t>(w[0] / n.attrs.Int("group", 1));
  return (i / plane) / in_per_group * per_group +
         i / static_cast<std::size_t>(w[2] * w[3]) % per_group;
}

Result<ValueId> AddFloats(ir::Graph& g, std::string name, const tensor::Dims& dims,
                          const Doubles& v) {
  NPUKIT_ASSIGN_OR_RETURN(tensor::Value t, tensor::Value::Allocate(tensor::DType::kF32, dims));
  for (std::size_t i = 0; i < v.size(); ++i) t.as_mutable<float>()[i] = static_cast<float>(v[i]);
  return g.AddConstant(std::move(name), std::move(t));
}

class Folding {
 public:
  explicit Folding(ir::Graph& g) : g_(g), rw_(g) {}

  Status Run(int* changes) {
    for (std::size_t slot = 0; slot < rw_.slots(); ++slot) {
      if (rw_.node(slot).is_foreign()) continue;
      NPUKIT_ASSIGN_OR_RETURN(const bool behind, FoldBehind(slot));
      *changes += behind ? 1 : 0;
      for (bool before = true; before;) {
        NPUKIT_ASSIGN_OR_RETURN(before, FoldBefore(slot));
        *changes += before ? 1 : 0;
      }
    }
    for (std::size_t slot = 0; slot < rw_.slots(); ++slot) {
      if (!rw_.alive(slot) || rw_.node(slot).op != &op::batch_normalization) continue;
      NPUKIT_ASSIGN_OR_RETURN(const bool spelled, SpellOut(slot));
      *changes += spelled ? 1 : 0;
    }
    rw_.Finish();
    return OkStatus();
  }

 private:
  // batch_normalization(x) -> x * scale + shift.
  Result<bool> SpellOut(std::size_t slot) {
    const ir::Node old = rw_.node(slot);
    const tensor::Type& x = g_.value(old.inputs[0]).type;
    if (!x.shape || x.shape->rank() < 2 || x.dtype != tensor::DType::kF32) return false;
    const std::size_t rank = x.shape->rank();
    const bool last = old.attrs.String("layout", "NCHW") == "NHWC";
    const std::size_t axis = last ? rank - 1 : 1;
    if (!x.shape->dims[axis].known()) return false;
    const auto channels = static_cast<std::size_t>(x.shape->dims[axis].value);
    const auto a = MatchAffine(g_, old, rank, axis, channels);
    if (!a) return false;
    tensor::Dims dims{static_cast<std::int64_t>(channels)};
    dims.resize(rank - axis, 1);
    ir::Node chain = NodeLike(old, op::chain, {old.inputs[0]});
    for (const Doubles* parameter : {&a->scale, &a->shift}) {
      NPUKIT_ASSIGN_OR_RETURN(
          const ValueId id,
          AddFloats(g_, NameOf(g_, old.inputs[chain.inputs.size()], ""), dims, *parameter));
      chain.epilogue.push_back({parameter == &a->scale ? &op::mul : &op::add,
                                {},
                                static_cast<int>(chain.inputs.size()),
                                false});
      chain.inputs.push_back(id);
    }
    NPUKIT_RETURN_IF_ERROR(rw_.Replace(slot, std::move(chain)));
    return true;
  }

  Result<ir::Node> WithParameters(const ir::Node& like, const Doubles& weights,
                                  const tensor::Dims& dims, const Doubles& bias, bool has_bias) {
    ir::Node n = like;
    NPUKIT_ASSIGN_OR_RETURN(n.inputs[1],
                            AddFloats(g_, NameOf(g_, like.inputs[1], ""), dims, weights));
    if (has_bias) {
      n.inputs.resize(3, kNoValue);
      const std::string name = like.inputs.size() > 2 && like.inputs[2] != kNoValue
                                   ? NameOf(g_, like.inputs[2], "")
                                   : like.name + "_bias";
      NPUKIT_ASSIGN_OR_RETURN(n.inputs[2],
                              AddFloats(g_, name, {static_cast<std::int64_t>(bias.size())}, bias));
    }
    return n;
  }

  // The node in `slot` scales or shifts the result of a convolution or matmul that nobody else
  // reads.
  Result<bool> FoldBehind(std::size_t slot) {
    for (const ValueId id : rw_.node(slot).inputs) {
      const auto producer = rw_.Producer(id);
      if (!producer || !rw_.SingleUse(id)) continue;
      const auto p = AsProducer(g_, rw_.node(*producer));
      if (!p) continue;
      const auto a = MatchAffine(g_, rw_.node(slot), p->rank, p->axis, p->channels);
      if (!a || a->x != id) continue;
      const ir::Node old = rw_.node(*producer);
      const tensor::Dims dims = p->weights->dims();
      Doubles weights(p->weights->as<float>().begin(), p->weights->as<float>().end());
      for (std::size_t i = 0; i < weights.size(); ++i)
        weights[i] *= a->scale[OutChannel(old, dims, i)];
      Doubles bias(p->channels, 0);
      bool has_bias = p->bias != nullptr;
      for (std::size_t c = 0; c < bias.size(); ++c) {
        if (p->bias) bias[c] = p->bias->as<float>()[c] * a->scale[c];
        bias[c] += a->shift[c];
        has_bias = has_bias || a->shift[c] != 0;
      }
      NPUKIT_ASSIGN_OR_RETURN(ir::Node fused, WithParameters(old, weights, dims, bias, has_bias));
      fused.outputs = rw_.node(slot).outputs;
      MergeFrom(fused, rw_.node(slot));
      rw_.Erase(*producer);
      NPUKIT_RETURN_IF_ERROR(rw_.Replace(slot, std::move(fused)));
      return true;
    }
    return false;
  }

  // The node in `slot` is a conv2d or matmul whose input is scaled or shifted for it alone.
  Result<bool> FoldBefore(std::size_t slot) {
    const ir::Node& n = rw_.node(slot);
    const bool conv = n.op == &op::conv2d;
    if (!conv && n.op != &op::matmul) return false;
    const auto p = AsProducer(g_, n);
    const auto before = rw_.Producer(n.inputs[0]);
    if (!p || !before || !rw_.SingleUse(n.inputs[0])) return false;
    const tensor::Type& x = g_.value(n.inputs[0]).type;
    if (!x.shape || x.shape->rank() < 2) return false;
    const tensor::Dims dims = p->weights->dims();
    const auto group = static_cast<std::size_t>(conv ? n.attrs.Int("group", 1) : 1);
    const auto in_per_group = static_cast<std::size_t>(conv ? dims[1] : dims[0]);
    const std::size_t rank = x.shape->rank();
    const auto a =
        MatchAffine(g_, rw_.node(*before), rank, conv ? p->axis : rank - 1, in_per_group * group);
    if (!a || !HasRank(a->x, rank)) return false;
    bool shifts = false;
    for (const double s : a->shift) shifts = shifts || s != 0;
    if (conv && shifts && !IsUnpadded(n)) return false;

    const std::size_t taps = conv ? static_cast<std::size_t>(dims[2] * dims[3]) : 1;
    const std::size_t out_per_group = p->channels / group;
    Doubles weights(p->weights->as<float>().begin(), p->weights->as<float>().end());
    Doubles bias(p->channels, 0);
    if (p->bias) bias.assign(p->bias->as<float>().begin(), p->bias->as<float>().end());
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const std::size_t out = OutChannel(n, dims, i);
      const std::size_t in =
          conv ? out / out_per_group * in_per_group + i / taps % in_per_group : i / p->channels;
      bias[out] += weights[i] * a->shift[in];
      weights[i] *= a->scale[in];
    }
    const ir::Node old = n;
    NPUKIT_ASSIGN_OR_RETURN(ir::Node fused,
                            WithParameters(old, weights, dims, bias, p->bias || shifts));
    fused.inputs[0] = a->x;
    MergeFrom(fused, rw_.node(*before));
    rw_.Erase(*before);
    NPUKIT_RETURN_IF_ERROR(rw_.Replace(slot, std::move(fused)));
    return true;
  }

  bool HasRank(ValueId id, std::size_t rank) const {
    const tensor::Type& t = g_.value(id).type;
    return t.is_tensor() && t.shape && t.shape->rank() == rank;
  }

  static bool IsUnpadded(const ir::Node& n) {
    const std::string_view pad = n.attrs.String("auto_pad", "NOTSET");
    if (pad == "VALID") return true;
    if (pad != "NOTSET" && !pad.empty()) return false;
    for (const std::int64_t p : n.attrs.IntList("pads")) {
      if (p != 0) return false;
    }
    return true;
  }

  ir::Graph& g_;
  Rewriter rw_;
};

Status Run(ir::Graph& g, const target::Profile&, int* changes) { return Folding(g).Run(changes); }

}  // namespace
}  // namespace npukit::passes

namespace npukit::pass {
constinit const passes::PassDef fuse_batch_norm = {
    .name = "fuse_batch_norm",
    .summary = "fold scales and shifts of channels into weights and bias",
    .run = passes::Run};
}  // namespace npukit::pass
