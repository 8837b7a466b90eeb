// Transposes: of rows by copies with strides, of everything else by `move` in UB.
#include <algorithm>

#include "base/text.h"
#include "devices/npu_sim/lower/move.h"
#include "devices/npu_sim/lower/rows.h"

namespace npukit::devices::npu_sim {
namespace {

constexpr std::int64_t kMaxMerged = 4;  // dimensions that really move: loops of `copy` and `move`

npu::Place OnUb(std::int64_t addr) {
  npu::Place p;
  p.mem = npu::kUb;
  p.addr = Word(addr);
  return p;
}

// Result sizes, outermost first.
tensor::Dims ResultDims(const TransposeShape& s) {
  tensor::Dims d;
  for (const std::int64_t p : s.perm) d.push_back(s.source[static_cast<std::size_t>(p)]);
  return d;
}

// A tile takes t0 x t1 of the two outermost result dimensions and all of the rest.
struct Tile {
  std::int64_t t0 = 1, t1 = 1;
  std::int64_t elements = 0;
};

std::int64_t Rest(const tensor::Dims& d) {
  std::int64_t n = 1;
  for (std::size_t i = 2; i < d.size(); ++i) n *= d[i];
  return n;
}

// Bytes of UB for a tile of the element transpose: the dense source and the blocked result.
std::int64_t TileBytes(const TransposeShape& s, const tensor::Dims& result, std::int64_t t0,
                       std::int64_t t1, std::int64_t element) {
  const std::int64_t rest = Rest(result);
  const std::int64_t last = result.size() == 1 ? t0 : result.size() == 2 ? t1 : result.back();
  const std::int64_t elements = t0 * (result.size() > 1 ? t1 * rest : 1);
  (void)s;
  return RoundUp(elements * element, npu::kBlockBytes) +
         elements / last * CeilDiv(last, kLanes) * npu::kBlockBytes;
}

// The last result dimension stays whole: it makes the lanes.
Tile ChooseTile(std::int64_t ub, const TransposeShape& s, std::int64_t element) {
  const tensor::Dims d = ResultDims(s);
  Tile t;
  t.t0 = d.size() > 1 ? std::max<std::int64_t>(1, CeilDiv(d[0], 4)) : d[0];
  t.t1 = d.size() > 1 ? d[1] : 1;
  while (d.size() > 1 && t.t0 > 1 && TileBytes(s, d, t.t0, t.t1, element) > ub)
    t.t0 = CeilDiv(t.t0, 2);
  while (d.size() > 2 && t.t1 > 1 && TileBytes(s, d, t.t0, t.t1, element) > ub)
    t.t1 = CeilDiv(t.t1, 2);
  return t;
}

// Sizes of a tile in the source's order.
tensor::Dims SourceTile(const TransposeShape& s, std::int64_t size0, std::int64_t size1) {
  tensor::Dims d = s.source;
  d[static_cast<std::size_t>(s.perm[0])] = size0;
  if (s.perm.size() > 1) d[static_cast<std::size_t>(s.perm[1])] = size1;
  return d;
}

// The copy of a source tile (dense, `unit` bytes an element) into UB: neighbouring whole dimensions
// merge into one run.
npu::Copy LoadTile(const TransposeShape& s, const tensor::Dims& tile, npu::Place from,
                   std::int64_t unit, std::int64_t ub) {
  const tensor::Dims strides = tensor::DenseStrides(s.source),
                     tile_strides = tensor::DenseStrides(tile);
  npu::Copy copy;
  copy.src = from;
  copy.dst = OnUb(ub);
  std::size_t run = tile.size() - 1;
  while (run > 0 && tile[run] == s.source[run]) --run;
  copy.bytes = Word(tile[run] * tile_strides[run] * unit);
  for (std::size_t i = 0; i < run; ++i) {
    const std::size_t slot = 3 - run + i;
    copy.count[slot] = Word(tile[i]);
    copy.src_stride[slot] = tile[i] == 1 ? 0 : Word(strides[i] * unit);
    copy.dst_stride[slot] = tile[i] == 1 ? 0 : Word(tile_strides[i] * unit);
  }
  return copy;
}

// Rows only, in result order.
void EmitRows(Context& c, const TransposeShape& s, const Blocked& src, const Blocked& dst) {
  const tensor::Dims d = ResultDims(s), strides = tensor::DenseStrides(s.source),
                     dense = tensor::DenseStrides(d);
  std::vector<RowLoop> loops;
  for (std::size_t i = 0; i < d.size(); ++i)
    loops.push_back({d[i], strides[static_cast<std::size_t>(s.perm[i])], dense[i]});
  EmitMoveRows(c, src, 0, dst, 0, std::move(loops));
}

// Elements: a dense tile in UB, moved into blocked order.
void EmitElements(Context& c, const TransposeShape& s, const Dense& src, const Blocked& dst) {
  const std::int64_t unit = npu::ElemBytes(src.type);
  const tensor::Dims d = ResultDims(s), strides = tensor::DenseStrides(s.source);
  const Tile t = ChooseTile(c.config.buffers.ub_bytes, s, unit);
  const std::int64_t d1 = d.size() > 1 ? d[1] : 1;
  ForEachTileGroup(d[0], t.t0, d1, t.t1, [&](const TileGroup& g) {
    c.AddGroup(g.tiles0, g.tiles1, nullptr, [&] {
      const tensor::Dims tile = SourceTile(s, g.size0, g.size1);
      npu::Place from = src.at;
      const std::int64_t s0 = strides[static_cast<std::size_t>(s.perm[0])];
      const std::int64_t s1 = d.size() > 1 ? strides[static_cast<std::size_t>(s.perm[1])] : 0;
      from.addr = Word(from.addr + (g.begin0 * s0 + g.begin1 * s1) * unit);
      from.step[0] = Word(g.size0 * s0 * unit);
      from.step[1] = Word(g.size1 * s1 * unit);
      c.Emit(LoadTile(s, tile, from, unit, 0));

      tensor::Dims result = d;
      result[0] = g.size0;
      if (d.size() > 1) result[1] = g.size1;
      const std::int64_t elements = *tensor::ElementCount(result), lanes = result.back(),
                         rows = elements / lanes;
      const std::int64_t blocks = CeilDiv(lanes, kLanes),
                         blocked = RoundUp(elements * unit, npu::kBlockBytes);
      if (lanes % kLanes != 0) {
        npu::Fill f;
        f.mem = npu::kUb;
        f.addr = Word(blocked + (blocks - 1) * rows * npu::kBlockBytes);
        f.len = Word(rows * kLanes);
        f.type = npu::kF16;
        c.Emit(f);
      }
      const tensor::Dims tile_strides = tensor::DenseStrides(tile);
      const std::int64_t lane_stride = tile_strides[static_cast<std::size_t>(s.perm.back())] * unit;
      const auto move = [&](std::int64_t block, std::int64_t count, std::int64_t used) {
        npu::Move m;
        m.src_type = src.type;
        m.src_addr = Word(block * kLanes * lane_stride);
        m.dst_addr = Word(blocked + block * rows * npu::kBlockBytes);
        std::int64_t dense = rows;
        for (std::size_t i = 0; i + 1 < result.size(); ++i) {
          dense /= result[i];
          const std::size_t slot = 4 - result.size() + i;
          m.count[slot] = Word(result[i]);
          m.src_stride[slot] = Word(tile_strides[static_cast<std::size_t>(s.perm[i])] * unit);
          m.dst_stride[slot] = Word(dense * npu::kBlockBytes);
        }
        m.count[3] = Word(count);
        m.src_stride[3] = Word(kLanes * lane_stride);
        m.dst_stride[3] = Word(rows * npu::kBlockBytes);
        m.count[4] = Word(used);
        m.src_stride[4] = Word(lane_stride);
        m.dst_stride[4] = 2;
        c.Emit(m);
      };
      if (lanes / kLanes) move(0, lanes / kLanes, kLanes);
      if (lanes % kLanes) move(lanes / kLanes, 1, lanes % kLanes);

      // Rows of the result: (begin0, begin1, rest without lanes). With three dimensions or more and
      // a part of the second, a tile is lines with a gap.
      TilePosition at;
      const std::int64_t inner =
          d.size() > 2 ? Rest(d) / lanes : 1;                    // rows of one index of dimension 1
      const std::int64_t outer = d.size() > 2 ? d1 * inner : 1;  // of one index of dimension 0
      at.row_begin = g.begin0 * outer + (d.size() > 2 ? g.begin1 * inner : 0);
      at.row_step[0] = g.size0 * outer;
      at.row_step[1] = d.size() > 2 ? g.size1 * inner : 0;
      at.lines = d.size() > 2 ? g.size0 : 1;
      at.line_rows = rows / at.lines;
      at.line_stride = outer;
      c.Emit(TileCopy(dst, at, blocks, blocked, true));
    });
  });
}

}  // namespace

TransposeShape TransposeShapeOf(const ir::Graph& g, const ir::Node& n) {
  const tensor::Dims x = g.value(n.inputs[0]).type.dims();
  const auto rank = static_cast<std::int64_t>(x.size());
  ops::Ints perm = n.attrs.IntList("perm");
  if (perm.empty()) {
    for (std::int64_t i = rank - 1; i >= 0; --i) perm.push_back(i);
  }
  TransposeShape s;
  // Dimensions of size 1 move nothing.
  std::vector<std::int64_t> order;  // source dimensions in result order
  for (const std::int64_t p : perm) {
    if (x[static_cast<std::size_t>(p)] != 1) order.push_back(p);
  }
  s.channels = x.empty() ? 1 : x[static_cast<std::size_t>(perm.back())];
  s.keeps_last = !perm.empty() && perm.back() == rank - 1;
  if (s.keeps_last && !order.empty() && order.back() == rank - 1) order.pop_back();
  // Merge neighbours: source dimensions that follow each other in the result as they do in the
  // source.
  std::vector<std::vector<std::int64_t>> runs;
  const auto next = [&](std::int64_t a) {
    do {
      ++a;
    } while (a < rank && x[static_cast<std::size_t>(a)] == 1);
    return a;
  };
  // Where lanes must stay whole (the last result dimension), it is not merged with the one before
  // it.
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool lanes = !s.keeps_last && i + 1 == order.size();
    if (!runs.empty() && next(runs.back().back()) == order[i] && !lanes) {
      runs.back().push_back(order[i]);
    } else {
      runs.push_back({order[i]});
    }
  }
  // A last result dimension of size 1 makes single lanes.
  const bool single = !s.keeps_last && s.channels == 1;
  std::vector<std::size_t> by_source(runs.size());
  for (std::size_t i = 0; i < runs.size(); ++i) by_source[i] = i;
  std::sort(by_source.begin(), by_source.end(),
            [&](std::size_t a, std::size_t b) { return runs[a][0] < runs[b][0]; });
  s.perm.resize(runs.size());
  for (std::size_t i = 0; i < by_source.size(); ++i) {
    std::int64_t size = 1;
    for (const std::int64_t dim : runs[by_source[i]]) size *= x[static_cast<std::size_t>(dim)];
    s.source.push_back(size);
    s.perm[by_source[i]] = static_cast<std::int64_t>(i);
  }
  if (single || s.source.empty()) {
    s.source.push_back(1);
    s.perm.push_back(static_cast<std::int64_t>(s.source.size()) - 1);
  }
  return s;
}

std::string TransposeProblem(const Config& config, const TransposeShape& s, bool fp32_source,
                             Overflow* overflow) {
  const auto merged = static_cast<std::int64_t>(s.source.size());
  if (s.keeps_last) return {};
  if (merged > kMaxMerged) return Cat(merged, " dimensions that move");
  const std::int64_t ub = config.buffers.ub_bytes;
  const std::int64_t element = fp32_source ? 4 : 2;
  const Tile t = ChooseTile(ub, s, element);
  const std::int64_t need = TileBytes(s, ResultDims(s), t.t0, t.t1, element);
  if (need > ub) *overflow = {"npu.ub_bytes", ub, need};
  return {};
}

Status LowerTranspose(Context& c, const ir::Node& n) {
  NPUKIT_ASSIGN_OR_RETURN(const bool done, SplitHeads(c, n));
  if (done) return OkStatus();
  const TransposeShape s = TransposeShapeOf(c.graph, n);
  if (s.keeps_last) {
    NPUKIT_ASSIGN_OR_RETURN(const Blocked src, c.AsBlocked(n.inputs[0]));
    NPUKIT_ASSIGN_OR_RETURN(const Blocked dst, c.NewBlocked(n.outputs[0]));
    c.BeginTask(n.name);
    EmitRows(c, s, src, dst);
    c.EndTask(0);
    return OkStatus();
  }
  NPUKIT_ASSIGN_OR_RETURN(const Dense src, c.AsDense(n.inputs[0]));
  NPUKIT_ASSIGN_OR_RETURN(const Blocked dst, c.NewBlocked(n.outputs[0]));
  c.BeginTask(n.name);
  EmitElements(c, s, src, dst);
  c.EndTask(0);
  return OkStatus();
}

}  // namespace npukit::devices::npu_sim
