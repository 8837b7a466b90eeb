// Mean and variance of each row in fp32, the variance from differences to the mean: squares of what
// is left after subtracting, so that a large mean costs no digits.
#include "devices/npu_sim/lower/layer_norm.h"

#include <algorithm>

#include "base/text.h"
#include "devices/npu_sim/lower/lanes.h"
#include "ops/rules.h"

namespace npukit::devices::npu_sim {
namespace {

struct Layout {
  std::int64_t wide = 0, square = 0, work = 0, stat = 0, scale = 0, bias = 0, end = 0;
};
Layout LayOut(std::int64_t blocks, std::int64_t rows) {
  const std::int64_t tile = blocks * rows * npu::kBlockBytes;
  Layout l;
  l.wide = tile;
  l.square = 3 * tile;
  l.work = 5 * tile;
  l.stat = l.work + rows * kLanes * 4;
  l.scale = l.stat + RoundUp(rows * 4, npu::kBlockBytes);
  l.bias = l.scale + blocks * kLanes * 4;
  l.end = l.bias + blocks * kLanes * 4;
  return l;
}
std::int64_t Bytes(std::int64_t blocks, std::int64_t rows) { return LayOut(blocks, rows).end; }

class Normaliser {
 public:
  Normaliser(Context& c, const Blocked& src, const Blocked& dst, std::int32_t scale,
             std::int32_t bias, float epsilon)
      : c_(c), src_(src), dst_(dst), scale_(scale), bias_(bias), epsilon_(epsilon) {}

  void Emit(std::int64_t tile_rows) {
    // What stays lies at the end of UB, so that tiles can share the rest in parts.
    const std::int64_t channels = src_.blocks() * kLanes * 4;
    const std::int64_t scale = c_.config.buffers.ub_bytes - 2 * channels, bias = scale + channels;
    const npu::Code prologue = c_.EmitStretch([&] {
      LoadChannels(scale_, scale);
      if (bias_ >= 0) LoadChannels(bias_, bias);
    });
    ForEachTileGroup(1, 1, src_.rows, tile_rows, [&](const TileGroup& g) {
      Layout l = LayOut(src_.blocks(), g.size1);
      l.scale = scale;
      l.bias = bias;
      c_.AddGroup(1, g.tiles1, prologue, [&] { Body(g, l); });
    });
  }

 private:
  void LoadChannels(std::int32_t weight, std::int64_t ub) {
    npu::Copy copy;
    copy.src.mem = npu::kWeight;
    copy.src.index = weight;
    copy.dst.mem = npu::kUb;
    copy.dst.addr = Word(ub);
    copy.bytes = Word(src_.blocks() * kLanes * 4);
    c_.Emit(copy);
  }

  // One fp32 a row at stat: the mean over the channels of a tile.
  void Mean(const Layout& l, std::int64_t from, npu::ElemType type, std::int64_t rows) {
    OverBlocks(c_, false, from, type, src_.blocks(), rows, l.work);
    OverLanes(c_, false, l.work, rows, l.stat);
    InPlace(c_, npu::UnaryOp::kMuls, l.stat, rows, 1.0f / static_cast<float>(src_.channels));
  }

  void Body(const TileGroup& g, const Layout& l) {
    const std::int64_t blocks = src_.blocks(), rows = g.size1;
    c_.Emit(TileCopy(src_, RowsAt(g), blocks, 0, false));
    Mean(l, 0, npu::kF16, rows);
    WithStat(c_, npu::BinaryOp::kSub, l.wide, npu::kF32, 0, npu::kF16, l.stat, blocks, rows);
    FillPadding(c_, l.wide, blocks, rows, src_.channels, 0, npu::kF32);
    npu::Binary square;
    square.op = npu::BinaryOp::kMul;
    square.dst_type = square.src0_type = square.src1_type = npu::kF32;
    square.dst_addr = Word(l.square);
    square.src0_addr = square.src1_addr = Word(l.wide);
    square.len = Word(blocks * rows * kLanes);
    c_.Emit(square);
    Mean(l, l.square, npu::kF32, rows);
    InPlace(c_, npu::UnaryOp::kAdds, l.stat, rows, epsilon_);
    InPlace(c_, npu::UnaryOp::kRsqrt, l.stat, rows);
    WithStat(c_, npu::BinaryOp::kMul, l.wide, npu::kF32, l.wide, npu::kF32, l.stat, blocks, rows);
    WithChannels(npu::BinaryOp::kMul, l.scale, l, rows, bias_ < 0);
    if (bias_ >= 0) WithChannels(npu::BinaryOp::kAdd, l.bias, l, rows, true);
    c_.Emit(TileCopy(dst_, RowsAt(g), blocks, 0, true));
  }

  // wide = wide op channels, in place or as fp16 where the tile came in.
  void WithChannels(npu::BinaryOp op, std::int64_t channels, const Layout& l, std::int64_t rows,
                    bool last) {
    const npu::ElemType to = last ? npu::kF16 : npu::kF32;
    npu::Binary b;
    b.op = op;
    b.dst_type = to;
    b.src0_type = b.src1_type = npu::kF32;
    b.dst_addr = last ? 0 : Word(l.wide);
    b.src0_addr = Word(l.wide);
    b.src1_addr = Word(channels);
    b.count[2] = Word(src_.blocks());
    b.count[3] = Word(rows);
    b.dst_stride[3] = Word(kLanes * npu::ElemBytes(to));
    b.dst_stride[2] = Word(rows * b.dst_stride[3]);
    b.src0_stride[3] = kLanes * 4;
    b.src0_stride[2] = Word(rows * kLanes * 4);
    b.src1_stride[2] = kLanes * 4;
    b.len = kLanes;
    c_.Emit(b);
  }

  Context& c_;
  const Blocked src_, dst_;
  const std::int32_t scale_, bias_;
  const float epsilon_;
};

// A value that is not any of the graph's.
Result<Blocked> Scratch(Context& c, const LayerNormShape& s) {
  Blocked b;
  b.rows = b.plane_rows = s.rows;
  b.channels = s.channels;
  NPUKIT_ASSIGN_OR_RETURN(b.at, c.NewBuffer(b.blocks() * b.plane_bytes()));
  return b;
}

}  // namespace

LayerNormShape LayerNormShapeOf(const ir::Graph& g, const ir::Node& n) {
  LayerNormShape s;
  const tensor::Dims x = g.value(n.inputs[0]).type.dims();
  const auto axis = ops::NormalAxis(n.attrs.Int("axis", -1), x.size());
  if (!axis.ok()) {
    s.problem = axis.status().message();
    return s;
  }
  for (std::size_t i = 0; i < x.size(); ++i) (i < *axis ? s.rows : s.channels) *= x[i];
  s.merged = s.channels != x.back();
  return s;
}

std::int64_t ChooseLayerNormRows(const Config& config, const LayerNormShape& s,
                                 Overflow* overflow) {
  const std::int64_t ub = config.buffers.ub_bytes, blocks = CeilDiv(s.channels, kLanes);
  if (Bytes(blocks, 1) > ub) *overflow = {"npu.ub_bytes", ub, Bytes(blocks, 1)};
  return RowsOfTile(ub, s.rows, blocks, Bytes);
}

Status LowerLayerNorm(Context& c, const ir::Node& n) {
  const LayerNormShape s = LayerNormShapeOf(c.graph, n);
  Overflow overflow;
  const std::int64_t rows = ChooseLayerNormRows(c.config, s, &overflow);
  if (!s.problem.empty() || !overflow.fact.empty())
    return Internal(Cat(n.op_name(), " ", n.name, " was not asked about"));
  const bool has_bias = n.inputs.size() > 2 && n.inputs[2] != ir::kNoValue;
  NPUKIT_ASSIGN_OR_RETURN(const std::int32_t scale,
                          BiasWeight(c, c.graph.constant(n.inputs[1]), s.channels));
  NPUKIT_ASSIGN_OR_RETURN(
      const std::int32_t bias,
      BiasWeight(c, has_bias ? c.graph.constant(n.inputs[2]) : nullptr, s.channels));
  Blocked src, dst;
  if (s.merged) {
    NPUKIT_ASSIGN_OR_RETURN(const Dense dense, c.AsDense(n.inputs[0]));
    NPUKIT_ASSIGN_OR_RETURN(src, Scratch(c, s));
    NPUKIT_RETURN_IF_ERROR(BlockedFromDense(c, dense, src, n.name));
    NPUKIT_ASSIGN_OR_RETURN(dst, Scratch(c, s));
  } else {
    NPUKIT_ASSIGN_OR_RETURN(src, c.AsBlocked(n.inputs[0]));
    NPUKIT_ASSIGN_OR_RETURN(dst, c.NewBlocked(n.outputs[0]));
  }
  c.BeginTask(n.name);
  Normaliser(c, src, dst, scale, bias, n.attrs.Float("epsilon", 1e-5f)).Emit(rows);
  c.EndTask(0);
  if (!s.merged) return OkStatus();
  NPUKIT_ASSIGN_OR_RETURN(const Dense out, c.NewDense(n.outputs[0]));
  return DenseFromBlocked(c, dst, out, n.name);
}

}  // namespace npukit::devices::npu_sim
