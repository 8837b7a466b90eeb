// Sums, means and extremes. Everything is added up in fp32 and rounded to fp16 once.
#include "devices/npu_sim/lower/reduce.h"

#include <algorithm>

#include "base/text.h"
#include "devices/npu_sim/lower/lanes.h"
#include "ops/reduce.h"

namespace npukit::devices::npu_sim {
namespace {

constexpr std::int32_t kMinusInfinity = static_cast<std::int32_t>(0xFF800000u);
constexpr std::int32_t kMinusInfinityHalf = 0xFC00;

// Where a tile's parts lie in UB.
struct Layout {
  std::int64_t map = 0, sums = 0, part = 0, work = 0, stat = 0, out = 0, end = 0;
};
Layout LayOut(const ReduceShape& s, const ReduceTiling& t) {
  Layout l;
  const std::int64_t fp32 = t.blocks * t.inner * kLanes * 4;
  l.sums = t.blocks * t.inner * t.reduced * npu::kBlockBytes;
  l.part = l.sums + (s.reduced > 1 || !s.over_lanes ? fp32 : 0);
  l.work = l.part + (t.reduced < s.reduced ? fp32 : 0);
  l.stat = l.work + (s.over_lanes ? t.inner * kLanes * 4 : 0);
  l.out = l.stat + (s.over_lanes ? RoundUp(t.inner * 4, npu::kBlockBytes) : 0);
  l.end = l.out + (s.over_lanes ? 1 : t.blocks) * t.inner * npu::kBlockBytes;
  return l;
}

class Reducer {
 public:
  Reducer(Context& c, const ReduceShape& s, const ReduceTiling& t, const ops::OpDef* op,
          const Blocked& src)
      : c_(c),
        s_(s),
        t_(t),
        max_(op == &op::reduce_max || op == &op::reduce_min),
        negate_(op == &op::reduce_min),
        scale_(op == &op::reduce_mean  ? 1.0f / static_cast<float>(s.count())
               : op == &op::reduce_min ? -1.0f
                                       : 1.0f),
        src_(src) {}

  void To(const Blocked& dst) {
    ForEachTile([&](const TileGroup& g, std::int64_t lead, bool leads) {
      const Layout l = Reduce(g, lead, leads);
      const std::int64_t rows = leads ? s_.inner : g.size1, blocks = s_.over_lanes ? 1 : g.size0;
      if (s_.over_lanes) {
        FillLanes(c_, l.out, rows, 0, kLanes, 0);
        Finish(l, rows, l.stat, npu::kBlockBytes);
      } else {
        npu::Unary u = Scale(l.sums, l.out);
        u.len = Word(blocks * rows * kLanes);
        c_.Emit(u);
      }
      TilePosition at = At(g, lead, leads, s_.inner);
      at.line_rows = rows;
      if (s_.over_lanes) at.block_begin = at.block_step[0] = 0;
      c_.Emit(TileCopy(dst, at, blocks, l.out, true));
    });
  }

  // One number per row, adjacent: the last dimension is gone.
  void To(const Dense& dst) {
    ForEachTile([&](const TileGroup& g, std::int64_t lead, bool leads) {
      const Layout l = Reduce(g, lead, leads);
      const std::int64_t rows = leads ? s_.inner : g.size1;
      Finish(l, rows, l.stat, 2);
      const TilePosition at = At(g, lead, leads, s_.inner);
      npu::Copy copy;
      copy.src.mem = npu::kUb;
      copy.src.addr = Word(l.out);
      copy.dst = dst.at;
      copy.dst.addr = Word(dst.at.addr + at.row_begin * 2);
      copy.dst.step[1] = Word(at.row_step[1] * 2);
      copy.bytes = Word(rows * 2);
      c_.Emit(copy);
    });
  }

 private:
  // Tiles of one lead each where the inner rows fit a tile, else of a part of them.
  template <class F>
  void ForEachTile(const F& f) {
    const auto groups = [&](std::int64_t lead, bool leads) {
      ForEachTileGroup(s_.blocks(), t_.blocks, leads ? s_.lead : s_.inner, leads ? 1 : t_.inner,
                       [&](const TileGroup& g) {
                         c_.AddGroup(g.tiles0, g.tiles1, nullptr, [&] { f(g, lead, leads); });
                       });
    };
    if (t_.inner == s_.inner) return groups(0, true);
    for (std::int64_t lead = 0; lead < s_.lead; ++lead) groups(lead, false);
  }

  // Position of a tile's first row in a value with `per_lead` rows a lead.
  TilePosition At(const TileGroup& g, std::int64_t lead, bool leads, std::int64_t per_lead) const {
    TilePosition at;
    at.block_begin = g.begin0;
    at.block_step[0] = g.size0;
    at.row_begin = leads ? g.begin1 * per_lead : lead * per_lead + g.begin1;
    at.row_step[1] = leads ? per_lead : g.size1;
    return at;
  }

  // Leaves (blocks, rows, 16) fp32 at sums, or one fp32 per row at stat when lanes are reduced.
  Layout Reduce(const TileGroup& g, std::int64_t lead, bool leads) {
    const std::int64_t rows = leads ? s_.inner : g.size1, blocks = g.size0;
    const Layout l = LayOut(s_, {blocks, rows, t_.reduced});
    const bool direct = s_.over_lanes && s_.reduced == 1;
    for (std::int64_t begin = 0; begin < s_.reduced; begin += t_.reduced) {
      const std::int64_t count = std::min(t_.reduced, s_.reduced - begin);
      TilePosition at = At(g, lead, leads, s_.reduced * s_.inner);
      at.row_begin += begin * s_.inner;
      at.lines = rows == s_.inner ? 1 : count;
      at.line_rows = rows == s_.inner ? count * rows : rows;
      at.line_stride = s_.inner;
      c_.Emit(TileCopy(src_, at, blocks, l.map, false));
      if (negate_) {
        npu::Unary u;
        u.op = npu::UnaryOp::kNeg;
        u.dst_addr = u.src_addr = Word(l.map);
        u.len = Word(blocks * count * rows * kLanes);
        c_.Emit(u);
      }
      if (direct) break;
      OverRows(l, blocks, rows, count, begin == 0 ? l.sums : l.part);
      if (begin == 0) continue;
      npu::Binary b;
      b.op = max_ ? npu::BinaryOp::kMax : npu::BinaryOp::kAdd;
      b.dst_type = b.src0_type = b.src1_type = npu::kF32;
      b.dst_addr = b.src0_addr = Word(l.sums);
      b.src1_addr = Word(l.part);
      b.len = Word(blocks * rows * kLanes);
      c_.Emit(b);
    }
    if (!s_.over_lanes) return l;
    const npu::ElemType type = direct ? npu::kF16 : npu::kF32;
    const std::int64_t from = direct ? l.map : l.sums;
    if (max_) {
      FillPadding(c_, from, blocks, rows, s_.channels, direct ? kMinusInfinityHalf : kMinusInfinity,
                  type);
    }
    OverBlocks(c_, max_, from, type, blocks, rows, l.work);
    OverLanes(c_, max_, l.work, rows, l.stat);
    return l;
  }

  // Over `count` rows, `rows` apart, of each block and inner row.
  void OverRows(const Layout& l, std::int64_t blocks, std::int64_t rows, std::int64_t count,
                std::int64_t dst) {
    npu::Reduce r;
    r.op = max_ ? npu::ReduceOp::kRowsMax : npu::ReduceOp::kRowsSum;
    r.dst_type = npu::kF32;
    r.dst_addr = Word(dst);
    r.src_addr = Word(l.map);
    r.count[1] = Word(blocks);
    r.count[2] = Word(rows);
    r.dst_stride[1] = Word(rows * kLanes * 4);
    r.dst_stride[2] = kLanes * 4;
    r.src_stride[1] = Word(count * rows * npu::kBlockBytes);
    r.src_stride[2] = npu::kBlockBytes;
    r.rows = Word(count);
    r.row_stride = count == 1 ? 0 : Word(rows * npu::kBlockBytes);
    r.len = kLanes;
    c_.Emit(r);
  }

  npu::Unary Scale(std::int64_t from, std::int64_t to) const {
    npu::Unary u;
    u.op = npu::UnaryOp::kMuls;
    u.src_type = npu::kF32;
    u.src_addr = Word(from);
    u.dst_addr = Word(to);
    u.scalar = scale_;
    return u;
  }
  // One number per row from stat to out, `stride` bytes apart there.
  void Finish(const Layout& l, std::int64_t rows, std::int64_t from, std::int64_t stride) {
    npu::Unary u = Scale(from, l.out);
    u.count[3] = Word(rows);
    u.dst_stride[3] = Word(stride);
    u.src_stride[3] = 4;
    u.len = 1;
    c_.Emit(u);
  }

  Context& c_;
  const ReduceShape& s_;
  const ReduceTiling& t_;
  const bool max_, negate_;
  const float scale_;
  const Blocked src_;
};

}  // namespace

ReduceShape ReduceShapeOf(const ir::Graph& g, const ir::Node& n) {
  ReduceShape s;
  const tensor::Dims x = g.value(n.inputs[0]).type.dims();
  const auto mask = ops::ReducedAxes(n.attrs.IntList("axes"), x.size());
  if (!mask.ok()) {
    s.problem = mask.status().message();
    return s;
  }
  if (x.empty()) return s;
  s.channels = x.back();
  // One channel need not be summed, but without its dimension rows become channels.
  const tensor::Dims y = g.value(n.outputs[0]).type.dims();
  s.over_lanes = mask->back() && (x.back() != 1 || SplitDims(y).channels != 1);
  bool closed = false;  // the run of reduced dimensions has ended
  for (std::size_t i = 0; i + 1 < x.size(); ++i) {
    if (x[i] == 1) continue;
    if ((*mask)[i] && closed)
      s.problem = Cat("axes ", JoinInts(n.attrs.IntList("axes"), ","), " of rank ", x.size());
    const bool in_run = (*mask)[i];
    closed |= !in_run && s.reduced > 1;
    (in_run ? s.reduced : s.reduced > 1 ? s.inner : s.lead) *= x[i];
  }
  if (s.reduced == 1) {
    s.inner = s.lead;
    s.lead = 1;
  }
  return s;
}

ReduceTiling ChooseReduceTiling(const Config& config, const ReduceShape& s, Overflow* overflow) {
  const std::int64_t ub = config.buffers.ub_bytes;
  ReduceTiling t;
  if (s.over_lanes) t.blocks = s.blocks();
  const auto bytes = [&](ReduceTiling u) { return LayOut(s, u).end; };
  if (bytes(t) > ub) {
    *overflow = {"npu.ub_bytes", ub, bytes(t)};
    return t;
  }
  const auto fits = [&] { return 2 * bytes(t) <= ub; };
  t.inner = std::min(s.inner, std::max<std::int64_t>(CeilDiv(s.inner, s.lead > 3 ? 1 : 4), 16));
  while (t.inner > 1 && !fits()) t.inner = CeilDiv(t.inner, 2);
  t.reduced = s.reduced;
  while (t.reduced > 1 && !fits()) t.reduced = CeilDiv(t.reduced, 2);
  if (s.over_lanes || t.reduced < s.reduced) return t;
  const std::int64_t most = std::max<std::int64_t>(1, CeilDiv(s.blocks(), 4));
  for (++t.blocks; t.blocks <= most && fits();) ++t.blocks;
  --t.blocks;
  return t;
}

Status LowerReduce(Context& c, const ir::Node& n) {
  const ReduceShape s = ReduceShapeOf(c.graph, n);
  Overflow overflow;
  const ReduceTiling t = ChooseReduceTiling(c.config, s, &overflow);
  if (!s.problem.empty() || !overflow.fact.empty())
    return Internal(Cat(n.op_name(), " ", n.name, " was not asked about"));
  NPUKIT_ASSIGN_OR_RETURN(const Blocked src, c.AsBlocked(n.inputs[0]));
  // Without its last dimension the result has another one there: it is written in plain order.
  if (s.over_lanes && SplitDims(c.dims(n.outputs[0])).channels != 1) {
    NPUKIT_ASSIGN_OR_RETURN(const Dense dst, c.NewDense(n.outputs[0]));
    c.BeginTask(n.name);
    Reducer(c, s, t, n.op, src).To(dst);
  } else {
    NPUKIT_ASSIGN_OR_RETURN(const Blocked dst, c.NewBlocked(n.outputs[0]));
    c.BeginTask(n.name);
    Reducer(c, s, t, n.op, src).To(dst);
  }
  c.EndTask(0);
  return OkStatus();
}

}  // namespace npukit::devices::npu_sim
