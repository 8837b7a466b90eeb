#include "devices/npu_sim/lower/move.h"

#include <algorithm>

#include "base/text.h"

namespace npukit::devices::npu_sim {
namespace {

// Rows of a tile that holds `blocks` blocks of them in UB.
std::int64_t TileRows(const Config& config, std::int64_t rows, std::int64_t blocks) {
  const std::int64_t most =
      std::max<std::int64_t>(1, config.buffers.ub_bytes / (blocks * npu::kBlockBytes));
  return std::min({rows, most, std::max<std::int64_t>(CeilDiv(rows, 4), 64)});
}

// Copies `rows` rows (all of src's channels) from src's row `from` to dst's row `to`, block by
// block through UB.
void CopyRows(Context& c, const Blocked& src, std::int64_t from, const Blocked& dst,
              std::int64_t to, std::int64_t rows) {
  ForEachTileGroup(src.blocks(), 1, rows, TileRows(c.config, rows, 1), [&](const TileGroup& g) {
    c.AddGroup(g.tiles0, g.tiles1, nullptr, [&] {
      TilePosition at;
      at.block_begin = g.begin0;
      at.block_step[0] = 1;
      at.row_begin = from + g.begin1;
      at.row_step[1] = g.size1;
      at.line_rows = g.size1;
      c.Emit(TileCopy(src, at, 1, 0, false));
      at.row_begin = to + g.begin1;
      c.Emit(TileCopy(dst, at, 1, 0, true));
    });
  });
}

// In UB: channels [from, from + count) of a tile (.., rows, 16) at src become channels [to, to +
// count) of one at dst.
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

void Zero(Context& c, std::int64_t at, std::int64_t bytes) {
  npu::Fill f;
  f.mem = npu::kUb;
  f.addr = Word(at);
  f.len = Word(bytes / 2);
  f.type = npu::kF16;
  c.Emit(f);
}

}  // namespace

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
      for (std::int64_t i = 0; i < s.lead; ++i)
        CopyRows(c, p, i * rows, dst, i * stretch + to, rows);
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
      CopyRows(c, p, 0, to, 0, p.rows);
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
                       TilePosition at;
                       at.row_begin = g.begin1;
                       at.row_step[1] = g.size1;
                       at.line_rows = g.size1;
                       const std::int64_t part = dst.blocks() * g.size1 * npu::kBlockBytes;
                       if (dst.channels % kLanes != 0) Zero(c, 0, part);
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

SliceShape SliceShapeOf(const ir::Graph& g, const ir::Node& n) {
  SliceShape s;
  const tensor::Dims x = g.value(n.inputs[0]).type.dims(), y = g.value(n.outputs[0]).type.dims();
  const auto constant = [&](std::size_t i) -> const tensor::Value* {
    return i < n.inputs.size() ? g.constant(n.inputs[i]) : nullptr;
  };
  const tensor::Value* starts = constant(1);
  const tensor::Value* axes = constant(3);
  const tensor::Value* steps = constant(4);
  if (starts == nullptr || constant(2) == nullptr ||
      (n.inputs.size() > 3 && n.inputs[3] != ir::kNoValue && axes == nullptr)) {
    s.problem = "bounds that are not constant";
    return s;
  }
  std::int64_t axis = -1;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (x[i] == y[i]) continue;
    if (axis >= 0) {
      s.problem = Cat("slice of dimensions ", axis, " and ", static_cast<std::int64_t>(i));
      return s;
    }
    axis = static_cast<std::int64_t>(i);
  }
  const auto rank = static_cast<std::int64_t>(x.size());
  if (axis < 0) axis = 0;
  for (std::int64_t i = 0; i < starts->count(); ++i) {
    std::int64_t a = axes ? tensor::ElementAsInt64(*axes, i) : i;
    if (a < 0) a += rank;
    if (steps && tensor::ElementAsInt64(*steps, i) != 1) {
      s.problem = Cat("step ", tensor::ElementAsInt64(*steps, i));
      return s;
    }
    if (a != axis) continue;
    const std::int64_t size = x[static_cast<std::size_t>(a)];
    std::int64_t from = tensor::ElementAsInt64(*starts, i);
    if (from < 0) from += size;
    s.from = std::clamp<std::int64_t>(from, 0, size);
  }
  s.count = y[static_cast<std::size_t>(axis)];
  s.over_lanes = axis == rank - 1;
  if (s.over_lanes) return s;
  std::int64_t inner = 1;
  for (std::int64_t i = axis + 1; i < rank - 1; ++i) inner *= x[static_cast<std::size_t>(i)];
  for (std::int64_t i = 0; i < axis; ++i) s.lead *= x[static_cast<std::size_t>(i)];
  s.from *= inner;
  s.count *= inner;
  s.stretch = x[static_cast<std::size_t>(axis)] * inner;
  return s;
}

Status LowerSlice(Context& c, const ir::Node& n) {
  const SliceShape s = SliceShapeOf(c.graph, n);
  if (!s.problem.empty()) return Internal(Cat("slice ", n.name, " was not asked about"));
  NPUKIT_ASSIGN_OR_RETURN(const Blocked src, c.AsBlocked(n.inputs[0]));
  // A stretch of rows, or whole blocks, is where it lies already.
  if (!s.over_lanes && s.lead == 1) {
    Blocked view = src;
    view.at.addr = Word(src.at.addr + s.from * npu::kBlockBytes);
    view.rows = s.count;
    c.SetBlocked(n.outputs[0], view);
    return OkStatus();
  }
  if (s.over_lanes && s.from % kLanes == 0) {
    Blocked view = src;
    view.at.addr = Word(src.at.addr + s.from / kLanes * src.plane_bytes());
    view.channels = s.count;
    c.SetBlocked(n.outputs[0], view);
    return OkStatus();
  }
  NPUKIT_ASSIGN_OR_RETURN(const Blocked dst, c.NewBlocked(n.outputs[0]));
  c.BeginTask(n.name);
  if (!s.over_lanes) {
    for (std::int64_t i = 0; i < s.lead; ++i)
      CopyRows(c, src, i * s.stretch + s.from, dst, i * s.count, s.count);
  } else {
    const std::int64_t first = s.from / kLanes, last = (s.from + s.count - 1) / kLanes,
                       blocks = last - first + 1;
    ForEachTileGroup(1, 1, dst.rows, TileRows(c.config, dst.rows, dst.blocks() + blocks),
                     [&](const TileGroup& g) {
                       c.AddGroup(1, g.tiles1, nullptr, [&] {
                         TilePosition at;
                         at.block_begin = first;
                         at.row_begin = g.begin1;
                         at.row_step[1] = g.size1;
                         at.line_rows = g.size1;
                         const std::int64_t part = dst.blocks() * g.size1 * npu::kBlockBytes;
                         if (dst.channels % kLanes != 0) Zero(c, 0, part);
                         c.Emit(TileCopy(src, at, blocks, part, false));
                         ShiftLanes(c, g.size1, part, s.from % kLanes, 0, 0, s.count);
                         at.block_begin = 0;
                         c.Emit(TileCopy(dst, at, dst.blocks(), 0, true));
                       });
                     });
  }
  c.EndTask(0);
  return OkStatus();
}

Status LowerReshape(Context& c, const ir::Node& n) {
  c.Alias(n.outputs[0], n.inputs[0]);
  return OkStatus();
}

}  // namespace npukit::devices::npu_sim
