// Between the forms of a value: dense (row-major, fp32 at the boundary) and blocked.
#include <algorithm>

#include "devices/npu_sim/lower/context.h"

namespace npukit::devices::npu_sim {
namespace {

npu::Place OnUb(std::int64_t addr) {
  npu::Place p;
  p.mem = npu::kUb;
  p.addr = Word(addr);
  return p;
}

// Tiles of a (rows, channels) matrix whose dense and blocked stretches lie in UB together. Whole
// rows where they fit, else blocks of one row.
struct Tiles {
  std::int64_t rows = 1, blocks = 1;
};
Tiles Choose(std::int64_t ub, std::int64_t rows, std::int64_t channels, std::int64_t element) {
  const std::int64_t per_row =
      RoundUp(channels * element, npu::kBlockBytes) + CeilDiv(channels, kLanes) * npu::kBlockBytes;
  Tiles t;
  if (per_row <= ub) {
    t.blocks = CeilDiv(channels, kLanes);
    t.rows = std::min({rows, ub / per_row, std::max<std::int64_t>(CeilDiv(rows, 4), 64)});
  } else {
    t.blocks = std::max<std::int64_t>(1, ub / (kLanes * element + npu::kBlockBytes));
  }
  return t;
}

// One tile group: `count` channels from `begin` on. to_blocked: dense -> blocked.
class Converter {
 public:
  Converter(Context& c, const Dense& dense, const Blocked& blocked, bool to_blocked)
      : c_(c),
        dense_(dense),
        blocked_(blocked),
        to_blocked_(to_blocked),
        size_(npu::ElemBytes(dense.type)) {}

  void Run() {
    const Tiles t = Choose(c_.config.buffers.ub_bytes, blocked_.rows, blocked_.channels, size_);
    const std::int64_t full = blocked_.channels / kLanes, tail = blocked_.channels % kLanes;
    if (t.blocks == blocked_.blocks()) {
      ForEachTileGroup(1, 1, blocked_.rows, t.rows,
                       [&](const TileGroup& g) { Group(g, 0, 1, full, tail); });
      return;
    }
    const std::int64_t tiles = full / t.blocks, rest = full % t.blocks;
    const auto each_row = [&](std::int64_t begin, std::int64_t n, std::int64_t blocks,
                              std::int64_t lanes) {
      ForEachTileGroup(1, 1, blocked_.rows, 1,
                       [&](const TileGroup& g) { Group(g, begin, n, blocks, lanes); });
    };
    if (tiles) each_row(0, tiles, t.blocks, 0);
    if (rest) each_row(tiles * t.blocks, 1, rest, 0);
    if (tail) each_row(full, 1, 0, tail);
  }

 private:
  // tiles0 of `blocks` full blocks from block `begin`, then `tail` lanes of one more.
  void Group(const TileGroup& g, std::int64_t begin, std::int64_t tiles0, std::int64_t blocks,
             std::int64_t tail) {
    const std::int64_t rows = g.size1, channels = blocks * kLanes + tail,
                       all_blocks = blocks + (tail ? 1 : 0);
    const std::int64_t dense_at = 0,
                       blocked_at = RoundUp(rows * channels * size_, npu::kBlockBytes);
    const std::int64_t plane = rows * npu::kBlockBytes;
    c_.AddGroup(tiles0, g.tiles1, nullptr, [&] {
      npu::Copy d;  // the dense stretch
      npu::Place dram = dense_.at;
      dram.addr = Word(dram.addr + (g.begin1 * blocked_.channels + begin * kLanes) * size_);
      dram.step[0] = Word(blocks * kLanes * size_);
      dram.step[1] = Word(rows * blocked_.channels * size_);
      const bool whole = channels == blocked_.channels;
      d.count[2] = Word(whole ? 1 : rows);
      d.bytes = Word((whole ? rows : 1) * channels * size_);
      (to_blocked_ ? d.src_stride : d.dst_stride)[2] =
          d.count[2] == 1 ? 0 : Word(blocked_.channels * size_);
      (to_blocked_ ? d.dst_stride : d.src_stride)[2] = d.count[2] == 1 ? 0 : Word(channels * size_);
      (to_blocked_ ? d.src : d.dst) = dram;
      (to_blocked_ ? d.dst : d.src) = OnUb(dense_at);

      npu::Copy b;  // the blocked one
      dram = blocked_.at;
      dram.addr = Word(dram.addr + begin * blocked_.plane_bytes() + g.begin1 * npu::kBlockBytes);
      dram.step[0] = Word(blocks * blocked_.plane_bytes());
      dram.step[1] = Word(rows * npu::kBlockBytes);
      b.count[2] = Word(all_blocks);
      b.bytes = Word(plane);
      (to_blocked_ ? b.dst_stride : b.src_stride)[2] =
          all_blocks == 1 ? 0 : Word(blocked_.plane_bytes());
      (to_blocked_ ? b.src_stride : b.dst_stride)[2] = all_blocks == 1 ? 0 : Word(plane);
      (to_blocked_ ? b.dst : b.src) = dram;
      (to_blocked_ ? b.src : b.dst) = OnUb(blocked_at);

      c_.Emit(to_blocked_ ? d : b);
      if (to_blocked_ && tail) Clear(blocked_at + blocks * plane, rows);
      if (blocks) Lanes(rows, channels, blocks, kLanes, dense_at, blocked_at);
      if (tail)
        Lanes(rows, channels, 1, tail, dense_at + blocks * kLanes * size_,
              blocked_at + blocks * plane);
      c_.Emit(to_blocked_ ? b : d);
    });
  }

  void Clear(std::int64_t at, std::int64_t rows) {
    npu::Fill f;
    f.mem = npu::kUb;
    f.addr = Word(at);
    f.len = Word(rows * kLanes);
    f.type = npu::kF16;
    c_.Emit(f);
  }

  // `lanes` of each of `blocks` blocks, every row.
  void Lanes(std::int64_t rows, std::int64_t channels, std::int64_t blocks, std::int64_t lanes,
             std::int64_t dense_at, std::int64_t blocked_at) {
    npu::Unary u;
    u.op = npu::UnaryOp::kCopy;
    u.dst_type = to_blocked_ ? npu::kF16 : dense_.type;
    u.src_type = to_blocked_ ? dense_.type : npu::kF16;
    u.dst_addr = Word(to_blocked_ ? blocked_at : dense_at);
    u.src_addr = Word(to_blocked_ ? dense_at : blocked_at);
    u.count[2] = Word(blocks);
    u.count[3] = Word(rows);
    const std::int64_t dense_stride[2] = {kLanes * size_, channels * size_};
    const std::int64_t blocked_stride[2] = {rows * npu::kBlockBytes, npu::kBlockBytes};
    for (int i = 0; i < 2; ++i) {
      u.dst_stride[2 + i] = Word(to_blocked_ ? blocked_stride[i] : dense_stride[i]);
      u.src_stride[2 + i] = Word(to_blocked_ ? dense_stride[i] : blocked_stride[i]);
    }
    u.len = Word(lanes);
    c_.Emit(u);
  }

  Context& c_;
  const Dense dense_;
  const Blocked blocked_;
  const bool to_blocked_;
  const std::int64_t size_;
};

}  // namespace

Status BlockedFromDense(Context& c, const Dense& src, const Blocked& dst, const std::string& name) {
  c.BeginTask(name);
  Converter(c, src, dst, true).Run();
  c.EndTask(0);
  return OkStatus();
}

Status DenseFromBlocked(Context& c, const Blocked& src, const Dense& dst, const std::string& name) {
  c.BeginTask(name);
  Converter(c, dst, src, false).Run();
  c.EndTask(0);
  return OkStatus();
}

Status DenseFromDense(Context& c, const Dense& src, const Dense& dst, std::int64_t count,
                      const std::string& name) {
  const std::int64_t in = npu::ElemBytes(src.type), out = npu::ElemBytes(dst.type);
  const std::int64_t tile =
      std::min(count, (c.config.buffers.ub_bytes - npu::kBlockBytes) / (in + out));
  c.BeginTask(name);
  ForEachTileGroup(1, 1, count, tile, [&](const TileGroup& g) {
    c.AddGroup(1, g.tiles1, nullptr, [&] {
      npu::Copy load;
      load.src = src.at;
      load.src.addr = Word(src.at.addr + g.begin1 * in);
      load.src.step[1] = Word(g.size1 * in);
      load.dst = OnUb(0);
      load.bytes = Word(g.size1 * in);
      c.Emit(load);
      const std::int64_t at = RoundUp(g.size1 * in, npu::kBlockBytes);
      npu::Unary u;
      u.dst_type = dst.type;
      u.src_type = src.type;
      u.dst_addr = Word(at);
      u.len = Word(g.size1);
      c.Emit(u);
      npu::Copy store;
      store.src = OnUb(at);
      store.dst = dst.at;
      store.dst.addr = Word(dst.at.addr + g.begin1 * out);
      store.dst.step[1] = Word(g.size1 * out);
      store.bytes = Word(g.size1 * out);
      c.Emit(store);
    });
  });
  c.EndTask(0);
  return OkStatus();
}

}  // namespace npukit::devices::npu_sim
