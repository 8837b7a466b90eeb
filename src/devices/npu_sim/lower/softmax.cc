// Softmax over the last dimension, in fp32 from the subtraction on. A row that fits UB is read
// once; a longer one three times, a stretch of blocks at a time: for its maximum, its sum, its
// quotients.
#include "devices/npu_sim/lower/softmax.h"

#include <algorithm>

#include "devices/npu_sim/lower/lanes.h"

namespace npukit::devices::npu_sim {
namespace {

constexpr std::int32_t kMinusInfinity = 0xFC00;  // no maximum, and exp gives +0

// A tile: fp16, fp32, partial results of each row twice, one result a row.
struct Layout {
  std::int64_t wide = 0, part = 0, run = 0, stat = 0, end = 0;
};
Layout LayOut(std::int64_t blocks, std::int64_t rows) {
  Layout l;
  l.wide = blocks * rows * npu::kBlockBytes;
  l.part = 3 * l.wide;
  l.run = l.part + rows * kLanes * 4;
  l.stat = l.run + rows * kLanes * 4;
  l.end = l.stat + RoundUp(rows * 4, npu::kBlockBytes);
  return l;
}
std::int64_t Bytes(std::int64_t blocks, std::int64_t rows) { return LayOut(blocks, rows).end; }

class Softmax {
 public:
  Softmax(Context& c, const Blocked& src, const Blocked& dst) : c_(c), src_(src), dst_(dst) {}

  void Emit() {
    const std::int64_t ub = c_.config.buffers.ub_bytes;
    chunk_ = src_.blocks();
    std::int64_t rows = 1;
    if (Bytes(chunk_, 1) <= ub) {
      rows = RowsOfTile(ub, src_.rows, chunk_, Bytes);
    } else {
      while (chunk_ > 1 && 2 * Bytes(chunk_, 1) > ub) chunk_ = CeilDiv(chunk_, 2);
    }
    l_ = LayOut(chunk_, rows);
    ForEachTileGroup(1, 1, src_.rows, rows, [&](const TileGroup& g) {
      c_.AddGroup(1, g.tiles1, nullptr, [&] {
        const bool whole = chunk_ == src_.blocks();
        EachChunk([&](std::int64_t begin, std::int64_t blocks) {
          Load(g, begin, blocks);
          Gather(true, 0, npu::kF16, begin, blocks, g.size1);
        });
        OverLanes(c_, true, l_.run, g.size1, l_.stat);
        const std::int64_t maximum = l_.stat;
        EachChunk([&](std::int64_t begin, std::int64_t blocks) {
          if (!whole) Load(g, begin, blocks);
          Exp(maximum, blocks, g.size1);
          Gather(false, l_.wide, npu::kF32, begin, blocks, g.size1);
        });
        // Where a row is read again its maximum is needed again; the sum goes where parts were.
        const std::int64_t sum = whole ? l_.stat : l_.part;
        OverLanes(c_, false, l_.run, g.size1, sum);
        EachChunk([&](std::int64_t begin, std::int64_t blocks) {
          if (!whole) {
            Load(g, begin, blocks);
            Exp(maximum, blocks, g.size1);
          }
          WithStat(c_, npu::BinaryOp::kDiv, 0, npu::kF16, l_.wide, npu::kF32, sum, blocks, g.size1);
          TilePosition at = RowsAt(g);
          at.block_begin = begin;
          c_.Emit(TileCopy(dst_, at, blocks, 0, true));
        });
      });
    });
  }

 private:
  template <class F>
  void EachChunk(const F& f) {
    for (std::int64_t b = 0; b < src_.blocks(); b += chunk_)
      f(b, std::min(chunk_, src_.blocks() - b));
  }

  void Load(const TileGroup& g, std::int64_t begin, std::int64_t blocks) {
    TilePosition at = RowsAt(g);
    at.block_begin = begin;
    c_.Emit(TileCopy(src_, at, blocks, 0, false));
    if (begin + blocks == src_.blocks())
      FillPadding(c_, 0, blocks, g.size1, src_.channels, kMinusInfinity);
  }

  void Exp(std::int64_t maximum, std::int64_t blocks, std::int64_t rows) {
    WithStat(c_, npu::BinaryOp::kSub, l_.wide, npu::kF32, 0, npu::kF16, maximum, blocks, rows);
    InPlace(c_, npu::UnaryOp::kExp, l_.wide, blocks * rows * kLanes);
  }

  // Sixteen partial results a row at `run`: this chunk's and those of the chunks before.
  void Gather(bool max, std::int64_t from, npu::ElemType type, std::int64_t begin,
              std::int64_t blocks, std::int64_t rows) {
    OverBlocks(c_, max, from, type, blocks, rows, begin == 0 ? l_.run : l_.part);
    if (begin == 0) return;
    npu::Binary b;
    b.op = max ? npu::BinaryOp::kMax : npu::BinaryOp::kAdd;
    b.dst_type = b.src0_type = b.src1_type = npu::kF32;
    b.dst_addr = b.src0_addr = Word(l_.run);
    b.src1_addr = Word(l_.part);
    b.len = Word(rows * kLanes);
    c_.Emit(b);
  }

  Context& c_;
  const Blocked src_, dst_;
  std::int64_t chunk_ = 1;  // blocks in UB at once
  Layout l_;
};

}  // namespace

std::int64_t SoftmaxLeastBytes() { return Bytes(1, 1); }

Status LowerSoftmax(Context& c, const ir::Node& n) {
  NPUKIT_ASSIGN_OR_RETURN(const Blocked src, c.AsBlocked(n.inputs[0]));
  NPUKIT_ASSIGN_OR_RETURN(const Blocked dst, c.NewBlocked(n.outputs[0]));
  c.BeginTask(n.name);
  Softmax(c, src, dst).Emit();
  c.EndTask(0);
  return OkStatus();
}

}  // namespace npukit::devices::npu_sim
