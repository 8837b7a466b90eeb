#include "devices/npu_sim/lower/move.h"

#include <algorithm>

#include "base/text.h"
#include "devices/npu_sim/lower/lanes.h"
#include "devices/npu_sim/lower/rows.h"

namespace npukit::devices::npu_sim {
namespace {

// Rows of a tile that holds `blocks` blocks of them in UB.
std::int64_t TileRows(const Config& config, std::int64_t rows, std::int64_t blocks) {
  const std::int64_t most = std::max<std::int64_t>(1, HalfOfUb(config) / blocks);
  return std::min({rows, most, std::max<std::int64_t>(CeilDiv(rows, 4), 64)});
}

}  // namespace

bool IsAlias(const ops::OpDef* o) {
  return o == &op::reshape || o == &op::squeeze || o == &op::unsqueeze || o == &op::identity ||
         o == &op::cast;
}

bool IsRemap(const ops::OpDef* o) {
  return o == &op::slice || o == &op::pad || o == &op::expand || o == &op::tile || o == &op::gather;
}

void ShiftLanes(Context& c, std::int64_t rows, std::int64_t src, std::int64_t from,
                std::int64_t dst, std::int64_t to, std::int64_t count) {
  const std::int64_t plane = rows * npu::kBlockBytes;
  while (count > 0) {
    const std::int64_t lanes = std::min({count, kLanes - from % kLanes, kLanes - to % kLanes});
    npu::Unary u;
    u.op = npu::UnaryOp::kCopy;
    u.src_addr = Word(src + from / kLanes * plane + from % kLanes * 2);
    u.dst_addr = Word(dst + to / kLanes * plane + to % kLanes * 2);
    u.count[3] = Word(rows);
    u.src_stride[3] = u.dst_stride[3] = npu::kBlockBytes;
    u.len = Word(lanes);
    c.Emit(u);
    from += lanes;
    to += lanes;
    count -= lanes;
  }
}

ConcatShape ConcatShapeOf(const ir::Graph& g, const ir::Node& n) {
  ConcatShape s;
  const tensor::Dims y = g.value(n.outputs[0]).type.dims();
  const auto rank = static_cast<std::int64_t>(y.size());
  std::int64_t axis = n.attrs.Int("axis");
  if (axis < 0) axis += rank;
  s.over_lanes = axis == rank - 1;
  for (std::int64_t i = 0; i < axis; ++i) s.lead *= y[static_cast<std::size_t>(i)];
  return s;
}

void CheckConcat(const ir::Graph& g, const ir::Node& n, const Config& config, Overflow* overflow) {
  if (!ConcatShapeOf(g, n).over_lanes) return;
  std::int64_t widest = 0;
  bool aligned = true;
  for (const ir::ValueId id : n.inputs) {
    const std::int64_t channels = SplitDims(g.value(id).type.dims()).channels;
    widest = std::max(widest, CeilDiv(channels, kLanes));
    aligned &= channels % kLanes == 0 || id == n.inputs.back();
  }
  if (aligned) return;
  const std::int64_t all = CeilDiv(SplitDims(g.value(n.outputs[0]).type.dims()).channels, kLanes);
  const std::int64_t need = (all + widest) * npu::kBlockBytes;
  if (need > config.buffers.ub_bytes) *overflow = {"npu.ub_bytes", config.buffers.ub_bytes, need};
}

Status LowerConcat(Context& c, const ir::Node& n) {
  const ConcatShape s = ConcatShapeOf(c.graph, n);
  std::vector<Blocked> parts;
  for (const ir::ValueId id : n.inputs) {
    NPUKIT_ASSIGN_OR_RETURN(const Blocked b, c.AsBlocked(id));
    parts.push_back(b);
  }
  NPUKIT_ASSIGN_OR_RETURN(const Blocked dst, c.NewBlocked(n.outputs[0]));
  c.BeginTask(n.name);
  if (!s.over_lanes) {
    std::int64_t to = 0;
    const std::int64_t stretch = dst.rows / s.lead;
    for (const Blocked& p : parts) {
      const std::int64_t rows = p.rows / s.lead;
      EmitMoveRows(c, p, 0, dst, to, {{s.lead, rows, stretch}, {rows, 1, 1}});
      to += rows;
    }
    c.EndTask(0);
    return OkStatus();
  }
  const bool aligned = std::all_of(parts.begin(), parts.end() - 1,
                                   [](const Blocked& p) { return p.channels % kLanes == 0; });
  if (aligned) {
    std::int64_t block = 0;
    for (const Blocked& p : parts) {
      Blocked to = dst;
      to.at.addr = Word(to.at.addr + block * dst.plane_bytes());
      to.channels = p.channels;
      EmitMoveRows(c, p, 0, to, 0, {{p.rows, 1, 1}});
      block += p.blocks();
    }
    c.EndTask(0);
    return OkStatus();
  }
  std::int64_t widest = 0;
  for (const Blocked& p : parts) widest = std::max(widest, p.blocks());
  ForEachTileGroup(1, 1, dst.rows, TileRows(c.config, dst.rows, dst.blocks() + widest),
                   [&](const TileGroup& g) {
                     c.AddGroup(1, g.tiles1, nullptr, [&] {
                       const TilePosition at = RowsAt(g);
                       const std::int64_t part = dst.blocks() * g.size1 * npu::kBlockBytes;
                       FillPadding(c, 0, dst.blocks(), g.size1, dst.channels, 0);
                       std::int64_t to = 0;
                       for (const Blocked& p : parts) {
                         c.Emit(TileCopy(p, at, p.blocks(), part, false));
                         ShiftLanes(c, g.size1, part, 0, 0, to, p.channels);
                         to += p.channels;
                       }
                       c.Emit(TileCopy(dst, at, dst.blocks(), 0, true));
                     });
                   });
  c.EndTask(0);
  return OkStatus();
}

Status LowerReshape(Context& c, const ir::Node& n) {
  NPUKIT_ASSIGN_OR_RETURN(const bool done, MergeHeads(c, n));
  if (done) return OkStatus();
  c.Alias(n.outputs[0], n.inputs[0]);
  return OkStatus();
}

}  // namespace npukit::devices::npu_sim
