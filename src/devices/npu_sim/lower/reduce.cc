#include "devices/npu_sim/lower/reduce.h"

#include <algorithm>

#include "base/text.h"

namespace npukit::devices::npu_sim {
namespace {

// Lanes of the last block that hold no channel get `bits`, in a tile (blocks, rows, 16) at 0.
void FillPadding(Context& c, std::int64_t blocks, std::int64_t rows, std::int64_t channels,
                 std::int32_t bits) {
  const std::int64_t used = channels % kLanes;
  if (used == 0) return;
  npu::Fill f;
  f.mem = npu::kUb;
  f.addr = Word((blocks - 1) * rows * npu::kBlockBytes + used * 2);
  f.count[1] = Word(rows);
  f.stride[1] = npu::kBlockBytes;
  f.len = Word(kLanes - used);
  f.type = npu::kF16;
  f.value = bits;
  c.Emit(f);
}

// One fp32 per row at `dst`, 4 bytes apart, over all lanes of a tile at `src`; `work`: (rows, 16)
// fp32.
void OverLanes(Context& c, bool max, std::int64_t src, npu::ElemType type, std::int64_t blocks,
               std::int64_t rows, std::int64_t work, std::int64_t dst) {
  const std::int64_t size = npu::ElemBytes(type);
  npu::Reduce a;  // over the blocks: 16 partial results a row
  a.op = max ? npu::ReduceOp::kRowsMax : npu::ReduceOp::kRowsSum;
  a.dst_type = npu::kF32;
  a.src_type = type;
  a.dst_addr = Word(work);
  a.src_addr = Word(src);
  a.count[2] = Word(rows);
  a.dst_stride[2] = kLanes * 4;
  a.src_stride[2] = Word(kLanes * size);
  a.rows = Word(blocks);
  a.row_stride = Word(rows * kLanes * size);
  a.len = kLanes;
  c.Emit(a);
  npu::Reduce b;
  b.op = max ? npu::ReduceOp::kLanesMax : npu::ReduceOp::kLanesSum;
  b.dst_type = b.src_type = npu::kF32;
  b.dst_addr = Word(dst);
  b.src_addr = Word(work);
  b.count[2] = Word(rows);
  b.dst_stride[2] = 4;
  b.src_stride[2] = kLanes * 4;
  b.len = kLanes;
  c.Emit(b);
}

TilePosition RowsAt(const TileGroup& g) {
  TilePosition at;
  at.row_begin = g.begin1;
  at.row_step[1] = g.size1;
  at.line_rows = g.size1;
  return at;
}

std::int64_t RowsOfTile(std::int64_t ub, std::int64_t rows, std::int64_t blocks,
                        std::int64_t (*bytes)(std::int64_t, std::int64_t)) {
  std::int64_t t = std::min(rows, std::max<std::int64_t>(CeilDiv(rows, 4), 16));
  while (t > 1 && bytes(blocks, t) > ub) t = CeilDiv(t, 2);
  return t;
}

void MeanOverLanes(Context& c, const ReduceShape& s, const Blocked& src, const Blocked& dst) {
  const std::int64_t blocks = src.blocks();
  const std::int64_t tile =
      RowsOfTile(c.config.buffers.ub_bytes, src.rows, blocks, LanesReduceBytes);
  ForEachTileGroup(1, 1, src.rows, tile, [&](const TileGroup& g) {
    c.AddGroup(1, g.tiles1, nullptr, [&] {
      const std::int64_t r = g.size1, work = blocks * r * npu::kBlockBytes,
                         sums = work + r * kLanes * 4;
      const std::int64_t out = RoundUp(sums + r * 4, npu::kBlockBytes);
      c.Emit(TileCopy(src, RowsAt(g), blocks, 0, false));
      FillPadding(c, blocks, r, s.channels, 0);
      OverLanes(c, false, 0, npu::kF16, blocks, r, work, sums);
      npu::Fill f;
      f.mem = npu::kUb;
      f.addr = Word(out);
      f.len = Word(r * kLanes);
      f.type = npu::kF16;
      c.Emit(f);
      npu::Unary u;
      u.op = npu::UnaryOp::kMuls;
      u.src_type = npu::kF32;
      u.dst_addr = Word(out);
      u.src_addr = Word(sums);
      u.count[3] = Word(r);
      u.dst_stride[3] = npu::kBlockBytes;
      u.src_stride[3] = 4;
      u.len = 1;
      u.scalar = 1.0f / static_cast<float>(s.channels);
      c.Emit(u);
      c.Emit(TileCopy(dst, RowsAt(g), 1, out, true));
    });
  });
}

void MeanOverRows(Context& c, const ReduceShape& s, const Blocked& src, const Blocked& dst) {
  const std::int64_t ub = c.config.buffers.ub_bytes;
  const std::int64_t fixed = 2 * kLanes * 4 + npu::kBlockBytes;  // sum, part, result of a block
  const std::int64_t rows = std::min(s.rows, (ub - fixed) / npu::kBlockBytes);
  std::int64_t blocks = 1;
  if (rows == s.rows) {
    const std::int64_t most = std::max<std::int64_t>(1, CeilDiv(src.blocks(), 4));
    while (blocks < most && (blocks + 1) * (fixed + rows * npu::kBlockBytes) <= ub) ++blocks;
  }
  ForEachTileGroup(src.blocks(), blocks, s.images, 1, [&](const TileGroup& g) {
    c.AddGroup(g.tiles0, g.tiles1, nullptr, [&] {
      const std::int64_t b = g.size0, sum = 0, part = b * kLanes * 4, out = 2 * part,
                         map = out + b * npu::kBlockBytes;
      for (std::int64_t begin = 0; begin < s.rows; begin += rows) {
        const std::int64_t count = std::min(rows, s.rows - begin);
        TilePosition at;
        at.block_begin = g.begin0;
        at.block_step[0] = b;
        at.row_begin = g.begin1 * s.rows + begin;
        at.row_step[1] = s.rows;
        at.line_rows = count;
        c.Emit(TileCopy(src, at, b, map, false));
        npu::Reduce r;
        r.op = npu::ReduceOp::kRowsSum;
        r.dst_type = npu::kF32;
        r.dst_addr = Word(begin == 0 ? sum : part);
        r.src_addr = Word(map);
        r.count[2] = Word(b);
        r.dst_stride[2] = kLanes * 4;
        r.src_stride[2] = Word(count * npu::kBlockBytes);
        r.rows = Word(count);
        r.row_stride = npu::kBlockBytes;
        r.len = kLanes;
        c.Emit(r);
        if (begin == 0) continue;
        npu::Binary add;
        add.dst_type = add.src0_type = add.src1_type = npu::kF32;
        add.dst_addr = add.src0_addr = Word(sum);
        add.src1_addr = Word(part);
        add.len = Word(b * kLanes);
        c.Emit(add);
      }
      npu::Unary u;
      u.op = npu::UnaryOp::kMuls;
      u.src_type = npu::kF32;
      u.dst_addr = Word(out);
      u.src_addr = Word(sum);
      u.len = Word(b * kLanes);
      u.scalar = 1.0f / static_cast<float>(s.rows);
      c.Emit(u);
      TilePosition at;
      at.block_begin = g.begin0;
      at.block_step[0] = b;
      at.row_begin = g.begin1;
      at.row_step[1] = 1;
      at.line_rows = 1;
      c.Emit(TileCopy(dst, at, b, out, true));
    });
  });
}

}  // namespace

std::int64_t LanesReduceBytes(std::int64_t blocks, std::int64_t rows) {
  return blocks * rows * npu::kBlockBytes + rows * kLanes * 4 + rows * 4 + npu::kBlockBytes +
         rows * npu::kBlockBytes;
}

std::int64_t SoftmaxBytes(std::int64_t blocks, std::int64_t rows) {
  return blocks * rows * npu::kBlockBytes * 3 + rows * kLanes * 4 +
         RoundUp(rows * 4, npu::kBlockBytes);
}

ReduceShape ReduceShapeOf(const ir::Graph& g, const ir::Node& n) {
  ReduceShape s;
  const tensor::Dims x = g.value(n.inputs[0]).type.dims();
  const auto rank = static_cast<std::int64_t>(x.size());
  ops::Ints axes = n.attrs.IntList("axes");
  for (std::int64_t& a : axes) a = a < 0 ? a + rank : a;
  std::sort(axes.begin(), axes.end());
  const bool keep = n.attrs.Int("keepdims", 1) != 0;
  const std::string found =
      Cat("axes ", JoinInts(axes, ","), " of rank ", rank, keep ? "" : ", dropped");
  if (axes.empty() || rank < 2) {
    s.problem = found;
    return s;
  }
  s.channels = x.back();
  if (axes.size() == 1 && axes[0] == rank - 1) {
    s.over_lanes = true;
    for (std::size_t i = 0; i + 1 < x.size(); ++i) s.rows *= x[i];
    if (!keep) s.problem = found;
    return s;
  }
  // A run of dimensions that ends just before the last.
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] !=
        rank - 1 - static_cast<std::int64_t>(axes.size()) + static_cast<std::int64_t>(i)) {
      s.problem = found;
      return s;
    }
  }
  for (std::int64_t i = 0; i < rank - 1; ++i)
    (i < axes[0] ? s.images : s.rows) *= x[static_cast<std::size_t>(i)];
  return s;
}

Status LowerReduceMean(Context& c, const ir::Node& n) {
  const ReduceShape s = ReduceShapeOf(c.graph, n);
  if (!s.problem.empty()) return Internal(Cat("reduce_mean ", n.name, " was not asked about"));
  NPUKIT_ASSIGN_OR_RETURN(const Blocked src, c.AsBlocked(n.inputs[0]));
  NPUKIT_ASSIGN_OR_RETURN(const Blocked dst, c.NewBlocked(n.outputs[0]));
  c.BeginTask(n.name);
  if (s.over_lanes) {
    MeanOverLanes(c, s, src, dst);
  } else {
    MeanOverRows(c, s, src, dst);
  }
  c.EndTask(0);
  return OkStatus();
}

Status LowerSoftmax(Context& c, const ir::Node& n) {
  NPUKIT_ASSIGN_OR_RETURN(const Blocked src, c.AsBlocked(n.inputs[0]));
  NPUKIT_ASSIGN_OR_RETURN(const Blocked dst, c.NewBlocked(n.outputs[0]));
  const std::int64_t blocks = src.blocks();
  const std::int64_t tile = RowsOfTile(c.config.buffers.ub_bytes, src.rows, blocks, SoftmaxBytes);
  c.BeginTask(n.name);
  ForEachTileGroup(1, 1, src.rows, tile, [&](const TileGroup& g) {
    c.AddGroup(1, g.tiles1, nullptr, [&] {
      const std::int64_t r = g.size1, bytes = blocks * r * npu::kBlockBytes;
      const std::int64_t temp = bytes, work = 3 * bytes, stat = work + r * kLanes * 4;
      c.Emit(TileCopy(src, RowsAt(g), blocks, 0, false));
      FillPadding(c, blocks, r, src.channels, 0xFC00);  // -infinity: no maximum, and exp gives +0
      OverLanes(c, true, 0, npu::kF16, blocks, r, work, stat);
      npu::Binary sub;
      sub.op = npu::BinaryOp::kSub;
      sub.dst_type = sub.src1_type = npu::kF32;
      sub.dst_addr = Word(temp);
      sub.src1_addr = Word(stat);
      sub.count[2] = Word(blocks);
      sub.count[3] = Word(r);
      sub.dst_stride[2] = Word(r * kLanes * 4);
      sub.dst_stride[3] = kLanes * 4;
      sub.src0_stride[2] = Word(r * npu::kBlockBytes);
      sub.src0_stride[3] = npu::kBlockBytes;
      sub.src1_stride[3] = 4;
      sub.len = kLanes;
      sub.src1_scalar = 1;
      c.Emit(sub);
      npu::Unary e;
      e.op = npu::UnaryOp::kExp;
      e.dst_type = e.src_type = npu::kF32;
      e.dst_addr = e.src_addr = Word(temp);
      e.len = Word(blocks * r * kLanes);
      c.Emit(e);
      OverLanes(c, false, temp, npu::kF32, blocks, r, work, stat);
      npu::Binary div = sub;
      div.op = npu::BinaryOp::kDiv;
      div.dst_type = npu::kF16;
      div.src0_type = npu::kF32;
      div.dst_addr = 0;
      div.src0_addr = Word(temp);
      std::copy(sub.dst_stride, sub.dst_stride + 4, div.src0_stride);
      std::copy(sub.src0_stride, sub.src0_stride + 4, div.dst_stride);
      c.Emit(div);
      c.Emit(TileCopy(dst, RowsAt(g), blocks, 0, true));
    });
  });
  c.EndTask(0);
  return OkStatus();
}

}  // namespace npukit::devices::npu_sim
