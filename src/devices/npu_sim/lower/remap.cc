#include "devices/npu_sim/lower/remap.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>

#include "base/text.h"
#include "devices/npu_sim/lower/lanes.h"
#include "devices/npu_sim/lower/move.h"
#include "devices/npu_sim/lower/rows.h"
#include "ops/pad.h"
#include "ops/rules.h"
#include "ops/slice.h"
#include "tensor/half.h"

namespace npukit::devices::npu_sim {
namespace {

// Instructions are written out for each combination of pieces; more than this are left to the CPU.
constexpr std::int64_t kMostPieces = 256;

// Pieces of equal step out of the source of each result index, -1 being the filler.
AxisMap MapOf(std::int64_t in, std::int64_t out,
              const std::function<std::int64_t(std::int64_t)>& f) {
  AxisMap m;
  m.in = in;
  m.out = out;
  for (std::int64_t i = 0; i < out;) {
    Piece p{i, 1, f(i), 1};
    if (p.src < 0) {
      p.src = -1;
      while (i + p.count < out && f(i + p.count) < 0) ++p.count;
    } else if (i + 1 < out && f(i + 1) >= p.src) {
      p.step = f(i + 1) - p.src;
      while (i + p.count < out && f(i + p.count) == p.src + p.count * p.step) ++p.count;
    }
    i += p.count;
    m.pieces.push_back(p);
    if (static_cast<std::int64_t>(m.pieces.size()) > kMostPieces) break;
  }
  return m;
}

// The node's inputs as values, the first one absent; false where a given one is not constant.
bool Constants(const ir::Graph& g, const ir::Node& n, std::vector<tensor::Value>* values) {
  values->resize(n.inputs.size());
  for (std::size_t i = 1; i < n.inputs.size(); ++i) {
    if (n.inputs[i] == ir::kNoValue) continue;
    const tensor::Value* v = g.constant(n.inputs[i]);
    if (v == nullptr) return false;
    (*values)[i] = *v;
  }
  return true;
}

void MapSlice(const tensor::Dims& x, std::span<const tensor::Value> inputs, Remap* r) {
  const auto cuts = ops::PlanSlice(x, inputs);
  if (!cuts.ok()) {
    r->problem = cuts.status().message();
    return;
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    const ops::Cut& c = (*cuts)[i];
    r->axes.push_back(MapOf(x[i], c.count, [&](std::int64_t k) { return c.start + k * c.step; }));
  }
}

void MapPad(const tensor::Dims& x, const ops::Attrs& attrs, std::span<const tensor::Value> inputs,
            Remap* r) {
  const auto mode = ops::ReadPadMode(attrs);
  const auto padding = ops::PlanPad(x.size(), inputs);
  if (!mode.ok() || !padding.ok()) {
    r->problem = (mode.ok() ? padding.status() : mode.status()).message();
    return;
  }
  if (inputs.size() > 2 && inputs[2].present())
    r->filler = static_cast<float>(tensor::ElementAsDouble(inputs[2], 0));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const ops::Padding& p = (*padding)[i];
    r->axes.push_back(MapOf(x[i], p.begin + x[i] + p.end,
                            [&](std::int64_t k) { return ops::PadSource(*mode, p, x[i], k); }));
  }
}

void MapGather(const tensor::Dims& x, const ops::Attrs& attrs, const tensor::Value& indices,
               Remap* r) {
  const auto axis = ops::NormalAxis(attrs.Int("axis", 0), x.size());
  if (!axis.ok()) {
    r->problem = axis.status().message();
    return;
  }
  std::vector<std::int64_t> picks = tensor::ToInt64s(indices);
  for (std::int64_t& k : picks) {
    if (k < 0) k += x[*axis];
    if (k < 0 || k >= x[*axis]) r->problem = Cat("index ", k, " of ", x[*axis]);
  }
  if (!r->problem.empty()) return;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const bool picked = i == *axis;
    r->axes.push_back(
        MapOf(x[i], picked ? static_cast<std::int64_t>(picks.size()) : x[i],
              [&](std::int64_t k) { return picked ? picks[static_cast<std::size_t>(k)] : k; }));
  }
}

// In UB: lanes [to, ..) of each of `rows` rows of a tile at `dst` from those of a tile at `src`.
void EmitLanes(Context& c, const Piece& p, std::int64_t rows, std::int64_t src, std::int64_t dst) {
  if (p.step == 1) return ShiftLanes(c, rows, src, p.src, dst, p.dst, p.count);
  const auto at = [&](std::int64_t base, std::int64_t lane) {
    return base + lane / kLanes * rows * npu::kBlockBytes + lane % kLanes * 2;
  };
  // A run inside one block of the result, and of the source where that moves on.
  for (std::int64_t i = 0; i < p.count;) {
    const std::int64_t from = p.src + i * p.step, to = p.dst + i;
    std::int64_t lanes = std::min(p.count - i, kLanes - to % kLanes);
    if (p.step > 0) lanes = std::min(lanes, CeilDiv(kLanes - from % kLanes, p.step));
    npu::Move m;
    m.src_addr = Word(at(src, from));
    m.dst_addr = Word(at(dst, to));
    m.count[3] = Word(rows);
    m.count[4] = Word(lanes);
    m.src_stride[3] = m.dst_stride[3] = npu::kBlockBytes;
    m.src_stride[4] = Word(p.step * 2);
    m.dst_stride[4] = 2;
    c.Emit(m);
    i += lanes;
  }
}

// Lanes of every row of src become those of dst, which has as many rows.
void MapLanes(Context& c, const AxisMap& lanes, std::int32_t filler, const Blocked& src,
              const Blocked& dst) {
  const std::int64_t per_row = src.blocks() + dst.blocks();
  const std::int64_t rows = std::clamp<std::int64_t>(
      HalfOfUb(c.config) / per_row, 1, std::max<std::int64_t>(CeilDiv(dst.rows, 4), 64));
  const bool fills = std::any_of(lanes.pieces.begin(), lanes.pieces.end(),
                                 [](const Piece& p) { return p.src < 0; });
  ForEachTileGroup(1, 1, dst.rows, std::min(rows, dst.rows), [&](const TileGroup& g) {
    c.AddGroup(1, g.tiles1, nullptr, [&] {
      const std::int64_t part = dst.blocks() * g.size1 * npu::kBlockBytes;
      if (fills) FillLanes(c, 0, dst.blocks() * g.size1, 0, kLanes, filler);
      FillPadding(c, 0, dst.blocks(), g.size1, dst.channels, 0);
      c.Emit(TileCopy(src, RowsAt(g), src.blocks(), part, false));
      for (const Piece& p : lanes.pieces) {
        if (p.src >= 0) EmitLanes(c, p, g.size1, part, 0);
      }
      c.Emit(TileCopy(dst, RowsAt(g), dst.blocks(), 0, true));
    });
  });
}

// Rows of every combination of pieces.
class RowMapper {
 public:
  RowMapper(Context& c, const Remap& r, std::int32_t filler, const Blocked& src, const Blocked& dst)
      : c_(c), r_(r), filler_(filler), src_(src), dst_(dst) {
    std::int64_t in = 1, out = 1;
    for (std::size_t i = r.axes.size() - 1; i-- > 0;) {
      strides_.insert(strides_.begin(), {in, out});
      in *= r.axes[i].in;
      out *= r.axes[i].out;
    }
  }
  void Emit() { Axis(0, 0, 0, false, {}); }

 private:
  void Axis(std::size_t axis, std::int64_t src, std::int64_t dst, bool fill,
            std::vector<RowLoop> loops) {
    if (axis == strides_.size()) {
      if (fill) return EmitFillRows(c_, filler_, dst_, dst, std::move(loops));
      return EmitMoveRows(c_, src_, src, dst_, dst, std::move(loops));
    }
    const auto [in, out] = strides_[axis];
    for (const Piece& p : r_.axes[axis].pieces) {
      std::vector<RowLoop> more = loops;
      more.push_back({p.count, p.src < 0 ? 0 : p.step * in, out});
      Axis(axis + 1, p.src < 0 ? src : src + p.src * in, dst + p.dst * out, fill || p.src < 0,
           std::move(more));
    }
  }

  Context& c_;
  const Remap& r_;
  const std::int32_t filler_;
  const Blocked& src_;
  const Blocked& dst_;
  std::vector<std::pair<std::int64_t, std::int64_t>> strides_;  // of the source, of the result
};

Result<Blocked> Scratch(Context& c, std::int64_t rows, std::int64_t channels) {
  Blocked b;
  b.rows = b.plane_rows = rows;
  b.channels = channels;
  NPUKIT_ASSIGN_OR_RETURN(b.at, c.NewBuffer(b.blocks() * b.plane_bytes()));
  return b;
}

// The part of src that the result is, where it is one: a stretch of rows and whole blocks.
std::optional<Blocked> ViewOf(const Remap& r, const Blocked& src) {
  Blocked view = src;
  std::int64_t first = 0, stride = 1;
  std::vector<RowLoop> loops;
  for (std::size_t i = r.axes.size() - 1; i-- > 0;) {
    const AxisMap& a = r.axes[i];
    if (a.pieces.size() != 1 || a.pieces[0].src < 0) return std::nullopt;
    const Piece& p = a.pieces[0];
    loops.insert(loops.begin(), {p.count, p.count == 1 ? stride : p.step * stride, 0});
    first += p.src * stride;
    stride *= a.in;
  }
  std::int64_t dense = 1;
  for (std::size_t i = loops.size(); i-- > 0;) {
    loops[i].dst = dense;
    dense *= loops[i].count;
  }
  loops = Simplified(std::move(loops));
  if (loops.size() > 1 || (loops.size() == 1 && loops[0].src != 1)) return std::nullopt;
  view.at.addr = Word(view.at.addr + first * npu::kBlockBytes);
  view.rows = dense;
  const AxisMap& lanes = r.axes.back();
  if (lanes.identity()) return view;
  const Piece& p = lanes.pieces[0];
  // Lanes beyond the channels are zero everywhere, so a part may end inside a block only where the
  // whole does.
  if (lanes.pieces.size() != 1 || p.src < 0 || (p.step != 1 && p.count > 1) ||
      p.src % kLanes != 0 || (p.count % kLanes != 0 && p.src + p.count != lanes.in)) {
    return std::nullopt;
  }
  view.at.addr = Word(view.at.addr + p.src / kLanes * view.plane_bytes());
  view.channels = p.count;
  return view;
}

}  // namespace

bool AxisMap::identity() const {
  return in == out && pieces.size() == 1 && pieces[0].src == 0 && (out == 1 || pieces[0].step == 1);
}

std::int64_t Remap::rows(bool out) const {
  std::int64_t n = 1;
  for (std::size_t i = 0; i + 1 < axes.size(); ++i) n *= out ? axes[i].out : axes[i].in;
  return n;
}

Remap RemapOf(const ir::Graph& g, const ir::Node& n) {
  Remap r;
  const tensor::Dims x = g.value(n.inputs[0]).type.dims(), y = g.value(n.outputs[0]).type.dims();
  std::vector<tensor::Value> inputs;
  if (!Constants(g, n, &inputs)) {
    r.problem =
        n.op == &op::gather ? "indices that are not constant" : "bounds that are not constant";
    return r;
  }
  if (n.op == &op::slice) MapSlice(x, inputs, &r);
  if (n.op == &op::pad) MapPad(x, n.attrs, inputs, &r);
  if (n.op == &op::gather) MapGather(x, n.attrs, inputs[1], &r);
  if (n.op == &op::expand || n.op == &op::tile) {
    tensor::Dims from = x;
    from.insert(from.begin(), y.size() - x.size(), 1);
    for (std::size_t i = 0; i < y.size(); ++i)
      r.axes.push_back(MapOf(from[i], y[i], [&](std::int64_t k) { return k % from[i]; }));
  }
  if (r.axes.empty()) r.axes.push_back(MapOf(1, 1, [](std::int64_t) { return 0; }));
  std::int64_t pieces = 1;
  for (const AxisMap& a : r.axes) {
    pieces *= static_cast<std::int64_t>(a.pieces.size());
    if (pieces > kMostPieces && r.problem.empty())
      r.problem = Cat("more than ", kMostPieces, " separate pieces");
  }
  if (std::isfinite(r.filler) && std::fabs(r.filler) >= 65520.0f && r.problem.empty())
    r.problem = Cat("a filler of ", r.filler);
  return r;
}

void CheckRemap(const Config& config, const Remap& r, Overflow* overflow) {
  const AxisMap& lanes = r.axes.back();
  if (lanes.identity()) return;
  const std::int64_t need =
      (CeilDiv(lanes.in, kLanes) + CeilDiv(lanes.out, kLanes)) * npu::kBlockBytes;
  if (need > config.buffers.ub_bytes) *overflow = {"npu.ub_bytes", config.buffers.ub_bytes, need};
}

Status LowerRemap(Context& c, const ir::Node& n) {
  const Remap r = RemapOf(c.graph, n);
  if (!r.problem.empty()) return Internal(Cat(n.op_name(), " ", n.name, " was not asked about"));
  NPUKIT_ASSIGN_OR_RETURN(const Blocked src, c.AsBlocked(n.inputs[0]));
  const ir::ValueId out = n.outputs[0];
  const RowsChannels want = SplitDims(c.dims(out));
  const AxisMap& lanes = r.axes.back();
  // A dimension may be gone from the result; where that was the last one, it is another matrix.
  const bool same = want.channels == lanes.out && want.rows == r.rows(true);
  if (const auto view = ViewOf(r, src); view && same) {
    c.SetBlocked(out, *view);
    return OkStatus();
  }
  Blocked dst;
  if (same) {
    NPUKIT_ASSIGN_OR_RETURN(dst, c.NewBlocked(out));
  } else {
    NPUKIT_ASSIGN_OR_RETURN(dst, Scratch(c, r.rows(true), lanes.out));
  }
  const std::int32_t filler = tensor::FloatToHalf(r.filler);
  const bool rows_move =
      std::any_of(r.axes.begin(), r.axes.end() - 1, [](const AxisMap& a) { return !a.identity(); });
  // Lanes are changed where there are fewer rows.
  const bool lanes_first = r.rows(false) <= r.rows(true);
  Blocked from = src;
  const auto map_lanes = [&](bool last) -> Status {
    Blocked to = dst;
    if (!last) {
      NPUKIT_ASSIGN_OR_RETURN(to, Scratch(c, from.rows, lanes.out));
    }
    c.BeginTask(n.name);
    MapLanes(c, lanes, filler, from, to);
    c.EndTask(0);
    from = to;
    return OkStatus();
  };
  if (!lanes.identity() && (lanes_first || !rows_move))
    NPUKIT_RETURN_IF_ERROR(map_lanes(!rows_move));
  if (rows_move || lanes.identity()) {
    const bool last = lanes.identity() || lanes_first;
    Blocked to = dst;
    if (!last) {
      NPUKIT_ASSIGN_OR_RETURN(to, Scratch(c, r.rows(true), from.channels));
    }
    c.BeginTask(n.name);
    RowMapper(c, r, filler, from, to).Emit();
    c.EndTask(0);
    from = to;
    if (!last) NPUKIT_RETURN_IF_ERROR(map_lanes(true));
  }
  if (same) return OkStatus();
  NPUKIT_ASSIGN_OR_RETURN(const Dense dense, c.NewDense(out));
  return DenseFromBlocked(c, dst, dense, n.name);
}

}  // namespace npukit::devices::npu_sim
