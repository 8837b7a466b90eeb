#include "devices/npu_sim/lower/rows.h"

#include <algorithm>

#include "devices/npu_sim/lower/lanes.h"

namespace npukit::devices::npu_sim {
namespace {

constexpr std::size_t kCopyLoops = 3;

std::int64_t CountOf(const std::vector<RowLoop>& loops) {
  std::int64_t n = 1;
  for (const RowLoop& l : loops) n *= l.count;
  return n;
}

// A tile between DRAM and UB, where it lies in the order of the loops: contiguous ones are one run.
// False: more strided loops than a copy has.
bool TileCopyOf(const std::vector<RowLoop>& tile, bool to_dram, npu::Copy* copy) {
  struct Strided {
    std::int64_t count, dram, ub;
  };
  std::vector<Strided> strided;  // innermost first
  std::int64_t run = 1, ub = 1;
  for (auto l = tile.rbegin(); l != tile.rend(); ++l) {
    const std::int64_t dram = to_dram ? l->dst : l->src;
    if (strided.empty() && dram == run) {
      run *= l->count;
    } else if (!strided.empty() && dram == strided.back().dram * strided.back().count &&
               ub == strided.back().ub * strided.back().count) {
      strided.back().count *= l->count;
    } else {
      strided.push_back({l->count, dram, ub});
    }
    ub *= l->count;
  }
  if (strided.size() > kCopyLoops) return false;
  for (std::size_t i = 0; i < strided.size(); ++i) {
    const std::size_t slot = kCopyLoops - 1 - i;
    copy->count[slot] = Word(strided[i].count);
    const std::int32_t a = Word(strided[i].dram * npu::kBlockBytes),
                       b = Word(strided[i].ub * npu::kBlockBytes);
    copy->dst_stride[slot] = to_dram ? a : b;
    copy->src_stride[slot] = to_dram ? b : a;
  }
  copy->bytes = Word(run * npu::kBlockBytes);
  return true;
}

// Cuts the loops into tiles: `tile` of them from loop `cut` on, that one in parts of `part` steps.
class Mover {
 public:
  // No source: the lanes up to `lanes` are filled with `bits`.
  Mover(Context& c, const Blocked* src, const Blocked& dst, std::vector<RowLoop> loops,
        std::int32_t bits, std::int64_t lanes)
      : c_(c),
        src_(src),
        dst_(dst),
        loops_(Simplified(std::move(loops))),
        bits_(bits),
        lanes_(lanes) {
    if (loops_.empty()) loops_.push_back({1, 1, 1});
    const std::int64_t most =
        std::min(HalfOfUb(c.config), std::max<std::int64_t>(CeilDiv(CountOf(loops_), 4), 64));
    cut_ = loops_.size() - 1;
    std::int64_t inner = 1;
    while (cut_ > 0 && inner * loops_[cut_].count <= most && Copies(cut_ - 1)) {
      inner *= loops_[cut_].count;
      --cut_;
    }
    part_ = std::clamp<std::int64_t>(most / inner, 1, loops_[cut_].count);
  }

  void Emit(std::int64_t src_first, std::int64_t dst_first) { Outer(0, src_first, dst_first); }

 private:
  // Do the loops from `cut` on fit the loops of a copy?
  bool Copies(std::size_t cut) const {
    const std::vector<RowLoop> tile(loops_.begin() + static_cast<std::ptrdiff_t>(cut),
                                    loops_.end());
    npu::Copy copy;
    return (src_ == nullptr || TileCopyOf(tile, false, &copy)) && TileCopyOf(tile, true, &copy);
  }

  // Loops before the last two that are not in the tile are written out.
  void Outer(std::size_t loop, std::int64_t src, std::int64_t dst) {
    if (loop + 1 < cut_) {
      for (std::int64_t i = 0; i < loops_[loop].count; ++i)
        Outer(loop + 1, src + i * loops_[loop].src, dst + i * loops_[loop].dst);
      return;
    }
    const RowLoop outer = cut_ > 0 ? loops_[cut_ - 1] : RowLoop{};
    const RowLoop parts = loops_[cut_];
    ForEachTileGroup(outer.count, 1, parts.count, part_, [&](const TileGroup& g) {
      std::vector<RowLoop> tile(loops_.begin() + static_cast<std::ptrdiff_t>(cut_), loops_.end());
      tile[0].count = g.size1;
      const auto place = [&](npu::Place at, std::int64_t first, std::int64_t step0,
                             std::int64_t step1) {
        at.addr = Word(at.addr + (first + g.begin0 * step0 + g.begin1 * step1) * npu::kBlockBytes);
        at.step[0] = Word(step0 * npu::kBlockBytes);
        at.step[1] = Word(g.size1 * step1 * npu::kBlockBytes);
        return at;
      };
      npu::Place ub;
      ub.mem = npu::kUb;
      c_.AddGroup(g.tiles0, g.tiles1, nullptr, [&] {
        if (src_ != nullptr) {
          npu::Copy load;
          NPUKIT_CHECK(TileCopyOf(tile, false, &load));
          load.src = place(src_->at, src, outer.src, parts.src);
          load.dst = ub;
          c_.Emit(load);
        } else {
          FillLanes(c_, 0, CountOf(tile), 0, kLanes, bits_);
          if (lanes_ < kLanes) FillLanes(c_, 0, CountOf(tile), lanes_, kLanes - lanes_, 0);
        }
        npu::Copy store;
        NPUKIT_CHECK(TileCopyOf(tile, true, &store));
        store.src = ub;
        store.dst = place(dst_.at, dst, outer.dst, parts.dst);
        c_.Emit(store);
      });
    });
  }

  Context& c_;
  const Blocked* src_;
  const Blocked& dst_;
  std::vector<RowLoop> loops_;
  const std::int32_t bits_;
  const std::int64_t lanes_;
  std::size_t cut_ = 0;
  std::int64_t part_ = 1;
};

}  // namespace

std::int64_t HalfOfUb(const Config& config) {
  return std::max<std::int64_t>(1, config.buffers.ub_bytes / 2 / npu::kBlockBytes);
}

std::vector<RowLoop> Simplified(std::vector<RowLoop> loops) {
  std::vector<RowLoop> out;
  for (const RowLoop& l : loops) {
    if (l.count == 1) continue;
    if (!out.empty() && out.back().src == l.src * l.count && out.back().dst == l.dst * l.count) {
      out.back() = {out.back().count * l.count, l.src, l.dst};
    } else {
      out.push_back(l);
    }
  }
  return out;
}

void EmitMoveRows(Context& c, const Blocked& src, std::int64_t src_first, const Blocked& dst,
                  std::int64_t dst_first, std::vector<RowLoop> loops) {
  NPUKIT_CHECK(src.blocks() == dst.blocks());
  loops.insert(loops.begin(), {dst.blocks(), src.plane_rows, dst.plane_rows});
  Mover(c, &src, dst, std::move(loops), 0, kLanes).Emit(src_first, dst_first);
}

void EmitMoveBlocks(Context& c, const Blocked& src, const Blocked& dst,
                    std::vector<RowLoop> loops) {
  std::stable_sort(loops.begin(), loops.end(),
                   [](const RowLoop& a, const RowLoop& b) { return a.dst > b.dst; });
  Mover(c, &src, dst, std::move(loops), 0, kLanes).Emit(0, 0);
}

void EmitFillRows(Context& c, std::int32_t bits, const Blocked& dst, std::int64_t dst_first,
                  std::vector<RowLoop> loops) {
  const std::int64_t used = dst.channels % kLanes, full = dst.channels / kLanes;
  for (RowLoop& l : loops) l.src = 0;
  loops.insert(loops.begin(), {full, 0, dst.plane_rows});
  if (full > 0) Mover(c, nullptr, dst, loops, bits, kLanes).Emit(0, dst_first);
  loops[0].count = 1;
  if (used > 0)
    Mover(c, nullptr, dst, loops, bits, used).Emit(0, dst_first + full * dst.plane_rows);
}

Result<Blocked> ExpandRows(Context& c, const Blocked& b, const tensor::Dims& from,
                           const tensor::Dims& to, const std::string& name) {
  NPUKIT_CHECK(from.size() == to.size());
  std::vector<RowLoop> loops(to.empty() ? 0 : to.size() - 1);
  std::int64_t src = 1, dst = 1;
  for (std::size_t i = loops.size(); i-- > 0;) {
    loops[i] = {to[i], from[i] == 1 ? 0 : src, dst};
    src *= from[i];
    dst *= to[i];
  }
  Blocked out;
  out.rows = out.plane_rows = dst;
  out.channels = b.channels;
  NPUKIT_ASSIGN_OR_RETURN(out.at, c.NewBuffer(out.blocks() * out.plane_bytes()));
  c.BeginTask(name);
  EmitMoveRows(c, b, 0, out, 0, std::move(loops));
  c.EndTask(0);
  return out;
}

}  // namespace npukit::devices::npu_sim
