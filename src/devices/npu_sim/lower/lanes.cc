#include "devices/npu_sim/lower/lanes.h"

#include <algorithm>

namespace npukit::devices::npu_sim {

void FillLanes(Context& c, std::int64_t ub, std::int64_t rows, std::int64_t first,
               std::int64_t lanes, std::int32_t bits, npu::ElemType type) {
  const std::int64_t size = npu::ElemBytes(type);
  npu::Fill f;
  f.mem = npu::kUb;
  f.addr = Word(ub + first * size);
  if (lanes == kLanes) {
    f.len = Word(rows * kLanes);
  } else {
    f.count[1] = Word(rows);
    f.stride[1] = Word(kLanes * size);
    f.len = Word(lanes);
  }
  f.type = type;
  f.value = bits;
  c.Emit(f);
}

void FillPadding(Context& c, std::int64_t ub, std::int64_t blocks, std::int64_t rows,
                 std::int64_t channels, std::int32_t bits, npu::ElemType type) {
  const std::int64_t used = channels % kLanes;
  if (used == 0) return;
  FillLanes(c, ub + (blocks - 1) * rows * kLanes * npu::ElemBytes(type), rows, used, kLanes - used,
            bits, type);
}

void OverBlocks(Context& c, bool max, std::int64_t src, npu::ElemType type, std::int64_t blocks,
                std::int64_t rows, std::int64_t dst) {
  const std::int64_t size = npu::ElemBytes(type);
  npu::Reduce a;
  a.op = max ? npu::ReduceOp::kRowsMax : npu::ReduceOp::kRowsSum;
  a.dst_type = npu::kF32;
  a.src_type = type;
  a.dst_addr = Word(dst);
  a.src_addr = Word(src);
  a.count[2] = Word(rows);
  a.dst_stride[2] = kLanes * 4;
  a.src_stride[2] = Word(kLanes * size);
  a.rows = Word(blocks);
  a.row_stride = Word(blocks == 1 ? 0 : rows * kLanes * size);
  a.len = kLanes;
  c.Emit(a);
}

void OverLanes(Context& c, bool max, std::int64_t src, std::int64_t rows, std::int64_t dst) {
  npu::Reduce b;
  b.op = max ? npu::ReduceOp::kLanesMax : npu::ReduceOp::kLanesSum;
  b.dst_type = b.src_type = npu::kF32;
  b.dst_addr = Word(dst);
  b.src_addr = Word(src);
  b.count[2] = Word(rows);
  b.dst_stride[2] = 4;
  b.src_stride[2] = kLanes * 4;
  b.len = kLanes;
  c.Emit(b);
}

void WithStat(Context& c, npu::BinaryOp op, std::int64_t dst, npu::ElemType dst_type,
              std::int64_t src, npu::ElemType src_type, std::int64_t stat, std::int64_t blocks,
              std::int64_t rows) {
  const std::int64_t to = kLanes * npu::ElemBytes(dst_type),
                     from = kLanes * npu::ElemBytes(src_type);
  npu::Binary b;
  b.op = op;
  b.dst_type = dst_type;
  b.src0_type = src_type;
  b.src1_type = npu::kF32;
  b.dst_addr = Word(dst);
  b.src0_addr = Word(src);
  b.src1_addr = Word(stat);
  b.count[2] = Word(blocks);
  b.count[3] = Word(rows);
  b.dst_stride[2] = Word(rows * to);
  b.dst_stride[3] = Word(to);
  b.src0_stride[2] = Word(rows * from);
  b.src0_stride[3] = Word(from);
  b.src1_stride[3] = 4;
  b.len = kLanes;
  b.src1_scalar = 1;
  c.Emit(b);
}

void InPlace(Context& c, npu::UnaryOp op, std::int64_t at, std::int64_t count, float scalar) {
  npu::Unary u;
  u.op = op;
  u.dst_type = u.src_type = npu::kF32;
  u.dst_addr = u.src_addr = Word(at);
  u.len = Word(count);
  u.scalar = scalar;
  c.Emit(u);
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
  while (t > 1 && 2 * bytes(blocks, t) > ub) t = CeilDiv(t, 2);
  return t;
}

}  // namespace npukit::devices::npu_sim
