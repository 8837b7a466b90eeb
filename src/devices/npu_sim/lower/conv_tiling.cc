#include <algorithm>
#include <limits>
#include <optional>

#include "base/text.h"
#include "devices/npu_sim/lower/conv.h"
#include "devices/npu_sim/lower/memo.h"

namespace npukit::devices::npu_sim {
namespace {

constexpr std::int64_t kMaxM =
    256;  // more rows in L0 gain nothing: weights are read once per m anyway
constexpr std::int64_t kMaxTileRows =
    2048;  // positions of a tile: enough to use L1, few enough to share among cores

// Half of a buffer, so that the other half can be filled meanwhile; all of it where half is too
// small for one fractal.
std::int64_t Half(std::int64_t bytes, std::int64_t at_least) {
  return bytes / 2 >= at_least ? bytes / 2 : bytes;
}

std::int64_t MapBytes(const ConvGeometry& g, std::int64_t rows, std::int64_t columns,
                      std::int64_t chunk) {
  const std::int64_t h = std::min(g.height, Reach(rows, g.kernel_h, g.stride_h, g.dilation_h));
  const std::int64_t w = std::min(g.width, Reach(columns, g.kernel_w, g.stride_w, g.dilation_w));
  return h * w * chunk * npu::kBlockBytes;
}

}  // namespace

std::vector<AxisRun> AxisRuns(std::int64_t in, std::int64_t out, std::int64_t tile,
                              std::int64_t kernel, std::int64_t stride, std::int64_t dilation,
                              std::int64_t pad) {
  std::vector<AxisRun> runs;
  for (std::int64_t o = 0; o < out; o += tile) {
    AxisRun r;
    r.out_begin = o;
    r.out_size = std::min(tile, out - o);
    const std::int64_t begin = o * stride - pad;
    const std::int64_t end = begin + Reach(r.out_size, kernel, stride, dilation);
    r.in_begin = std::clamp<std::int64_t>(begin, 0, in);
    r.in_size = std::clamp<std::int64_t>(end, r.in_begin, in) - r.in_begin;
    r.pad = r.in_begin - begin;
    // A tile that sees only padding still needs a map to look at: one row that lies beyond its
    // reach.
    if (r.in_size == 0) {
      r.in_begin = std::min(r.in_begin, in - 1);
      r.pad = Reach(r.out_size, kernel, stride, dilation);
      r.in_size = 1;
    }
    if (!runs.empty()) {
      AxisRun& last = runs.back();
      const std::int64_t step = r.in_begin - (last.in_begin + (last.tiles - 1) * last.in_step);
      if (last.out_size == r.out_size && last.in_size == r.in_size && last.pad == r.pad &&
          r.pad == 0 && (last.tiles == 1 || last.in_step == step) && step >= 0) {
        last.in_step = step;
        ++last.tiles;
        continue;
      }
    }
    runs.push_back(r);
  }
  return runs;
}

ConvTiling ChooseConvTiling(const Config& config, const ConvGeometry& g, const StepsPlan& steps,
                            Overflow* overflow) {
  const npu::Buffers& b = config.buffers;
  const std::int64_t acc = config.accumulator_bytes();
  const std::int64_t fractal = npu::kFractalBytes;
  const std::int64_t l0a = Half(b.l0a_bytes, fractal) / fractal,
                     l0b = Half(b.l0b_bytes, fractal) / fractal;
  const std::int64_t l0c = Half(b.l0c_bytes, 256 * acc) / (256 * acc);  // in 16 x 16 blocks
  ConvTiling t;
  const auto ub_bytes = [&](std::int64_t blocks, std::int64_t rows) {
    return steps.UbBytes(blocks, rows) + blocks * kChannelBytes;
  };
  const std::int64_t ub_least = ub_bytes(1, 1);
  if (l0a < 1 || l0b < 1)
    *overflow = {l0a < 1 ? "npu.l0a_bytes" : "npu.l0b_bytes", l0a < 1 ? b.l0a_bytes : b.l0b_bytes,
                 fractal};
  if (l0c < 1) *overflow = {"npu.l0c_bytes", b.l0c_bytes, 256 * acc};
  if (ub_least > b.ub_bytes) *overflow = {"npu.ub_bytes", b.ub_bytes, ub_least};
  const std::int64_t l1_least = MapBytes(g, 1, 1, 1) + g.taps() * fractal;
  if (l1_least + CubeBiasBytes(config, g) > b.l1_bytes)
    *overflow = {"npu.sram_bytes", b.l1_bytes, l1_least + CubeBiasBytes(config, g)};
  if (!overflow->fact.empty()) return t;

  // L0: as many channels as there are, then positions, then the reduction.
  const std::int64_t positions = g.out_height * g.out_width;
  t.n1 = std::min({g.out_blocks(), l0b, l0c, std::int64_t{8}});
  std::int64_t m1 = std::min({CeilDiv(positions, kLanes), l0a, l0c / t.n1, kMaxM / kLanes});
  while (m1 > 1 && ub_bytes(t.n1, m1 * kLanes) > b.ub_bytes) m1 = CeilDiv(m1, 2);
  while (t.n1 > 1 && ub_bytes(t.n1, m1 * kLanes) > b.ub_bytes) t.n1 = CeilDiv(t.n1, 2);
  t.m = std::min(m1 * kLanes, positions);
  while (t.m > 1 && ub_bytes(t.n1, t.m) > b.ub_bytes) --t.m;
  t.k1 = std::min({g.k1(), l0a / m1, l0b / t.n1});

  // L1: a stretch of whole output rows where it fits, else a part of one; all weights where they
  // leave room.
  const std::int64_t weights = g.k1() * g.out_blocks() * fractal;
  t.resident_weights = weights <= b.l1_bytes / 2;
  const std::int64_t room = b.l1_bytes - CubeBiasBytes(config, g);
  t.chunk = g.in_blocks();
  const auto weight_bytes = [&](std::int64_t chunk) {
    return t.resident_weights ? weights : chunk * g.taps() * t.n1 * fractal;
  };
  t.rows = 1;
  t.columns = std::min(
      g.out_width, g.out_height == 1 ? std::max<std::int64_t>(t.m, kMaxTileRows / 4) : g.out_width);
  const auto fits = [&](std::int64_t rows, std::int64_t columns, std::int64_t chunk) {
    return MapBytes(g, rows, columns, chunk) + weight_bytes(chunk) <= room;
  };
  if (!fits(1, t.columns, t.chunk)) t.resident_weights = false;
  // A tile narrower than a row holds one stretch of positions, so that its lines are alike.
  if (!fits(1, t.columns, t.chunk) || t.columns < g.out_width) t.columns = std::min(t.columns, t.m);
  while (t.chunk > 1 && !fits(1, t.columns, t.chunk)) t.chunk = CeilDiv(t.chunk, 2);
  while (t.columns > 1 && !fits(1, t.columns, t.chunk)) t.columns = CeilDiv(t.columns, 2);
  while (t.n1 > 1 && !fits(1, t.columns, t.chunk)) t.n1 = CeilDiv(t.n1, 2);
  t.k1 = std::min(t.k1, t.chunk * g.taps());
  if (t.columns == g.out_width) {
    const std::int64_t most =
        std::min({g.out_height, std::max<std::int64_t>(1, kMaxTileRows / t.columns),
                  std::max<std::int64_t>(1, CeilDiv(g.out_height, 4))});
    while (t.rows < most && fits(t.rows + 1, t.columns, t.chunk)) ++t.rows;
  } else {
    t.m = std::min(t.m, t.columns);
  }
  return t;
}

namespace {

constexpr std::uint64_t kMostWords = 2'000'000;  // of a search

// What decides a search: a convolution of the same key is tiled alike.
std::string KeyOf(const Config& config, const ConvProblem& p) {
  const ConvGeometry& g = p.geometry;
  std::string key = Cat(config.profile_hash, " ", p.bias >= 0, p.cube_bias >= 0, p.relu, " ",
                        p.dst_row, " ", p.dst_column);
  for (const std::int64_t v :
       {g.images, g.height, g.width, g.channels, g.out_height, g.out_width, g.out_channels,
        g.kernel_h, g.kernel_w, g.stride_h, g.stride_w, g.dilation_h, g.dilation_w, g.pad_top,
        g.pad_left, p.src.plane_rows, p.dst.plane_rows, p.steps.UbBytes(1, 1)})
    key += Cat(" ", v);
  key += Cat(" ", p.steps.wide, p.steps.needs_temp, p.steps.dirty_padding);
  for (const Step& s : p.steps.steps) {
    key += Cat(" ", s.op->name, ":", static_cast<int>(s.kind), ":", s.source.at.mem, ":",
               s.source.plane_rows, ":", s.swapped, ":", s.scalar);
  }
  return key;
}

// Every tiling worth a look, in an order that tries likely ones first.
class Candidates {
 public:
  Candidates(const Config& config, const ConvProblem& p)
      : b_(config.buffers),
        l1_(config.buffers.l1_bytes - CubeBiasBytes(config, p.geometry)),
        acc_(config.accumulator_bytes()),
        p_(p),
        g_(p.geometry) {}

  std::vector<ConvTiling> All() {
    // Maps of which not even one row fits are left as they are.
    const std::int64_t row = MapBytes(g_, 1, g_.out_height == 1 ? 1 : g_.out_width, g_.in_blocks());
    if (row > l1_ / 2) return {};
    for (std::int64_t n1 = 16; n1 >= 1; n1 /= 2) {
      const std::int64_t most = std::min(n1, g_.out_blocks());
      if (most < n1 && n1 > 1 && most <= n1 / 2) continue;
      for (const std::int64_t part : {1, 2, 4}) {
        if (const auto t = Inner(most, part)) Outer(*t);
      }
    }
    return std::move(all_);
  }

 private:
  static constexpr std::int64_t kFractal = npu::kFractalBytes;
  static constexpr std::int64_t kMostPieces = 1024;  // of a body: keeps blobs small

  // What L0 and UB hold at once: as many positions as fit halves of them, over `part`.
  std::optional<ConvTiling> Inner(std::int64_t n1, std::int64_t part) const {
    const std::int64_t positions = g_.out_height * g_.out_width;
    const std::int64_t l0a = b_.l0a_bytes / 2 / kFractal, l0b = b_.l0b_bytes / 2 / kFractal;
    const std::int64_t l0c = b_.l0c_bytes / 2 / (256 * acc_);
    if (l0a < 1 || n1 > l0b || n1 > l0c) return std::nullopt;
    std::int64_t m1 =
        std::min({CeilDiv(positions, kLanes), l0a, l0c / n1, std::int64_t{2} * kMaxM / kLanes});
    const auto fits = [&](std::int64_t rows) {
      return p_.steps.UbBytes(n1, rows) + n1 * kChannelBytes <= b_.ub_bytes * 7 / 16;
    };
    while (m1 > 1 && !fits(m1 * kLanes)) --m1;
    if (!fits(std::min(m1 * kLanes, positions)) || (part > 1 && m1 < part)) return std::nullopt;
    // Equal parts rather than a small rest.
    m1 = CeilDiv(m1, part);
    const std::int64_t pieces = CeilDiv(CeilDiv(positions, kLanes), m1);
    ConvTiling t;
    t.n1 = n1;
    t.m = std::min(CeilDiv(CeilDiv(positions, kLanes), pieces) * kLanes, positions);
    t.k1 = std::min({g_.k1(), l0a / CeilDiv(t.m, kLanes), l0b / n1});
    t.chunk = g_.in_blocks();
    return t;
  }

  void Outer(const ConvTiling& inner) {
    const std::int64_t weights = g_.k1() * g_.out_blocks() * kFractal;
    const std::int64_t piece = g_.k1() * inner.n1 * kFractal;
    const bool line = g_.out_height == 1;
    // Sizes of a tile: the largest that leaves room for a second one, and smaller ones.
    const auto sizes = [&](std::int64_t room) {
      const std::int64_t all = line ? g_.out_width : g_.out_height;
      std::int64_t most = all;
      const auto bytes = [&](std::int64_t n) {
        return line ? MapBytes(g_, 1, n, inner.chunk) : MapBytes(g_, n, g_.out_width, inner.chunk);
      };
      while (most > 1 && bytes(most) > room) most = CeilDiv(most, 2);
      std::vector<std::int64_t> found;
      if (bytes(most) > room) return found;
      for (std::int64_t tiles = CeilDiv(all, most), i = 0; i < 4; ++i, tiles *= 2) {
        const std::int64_t n = CeilDiv(all, tiles);
        if (!found.empty() && found.back() == n) break;
        found.push_back(n);
      }
      return found;
    };
    const auto with = [&](std::int64_t size, bool resident_weights) {
      ConvTiling t = inner;
      t.resident_weights = resident_weights;
      t.rows = line ? 1 : size;
      t.columns = line ? size : g_.out_width;
      t.m = std::min(t.m, t.rows * t.columns);
      Add(t);
    };
    if (weights < l1_) {
      for (const std::int64_t n : sizes((l1_ - weights) / 2)) with(n, true);
    }
    if (2 * piece < l1_) {
      for (const std::int64_t n : sizes((l1_ - 2 * piece) / 2)) with(n, false);
      for (const std::int64_t n : sizes(l1_ - 2 * piece)) with(n, false);
    }
    // The whole map in L1, tiles along the channels.
    const bool gapless = p_.dst_column == 1 && p_.dst_row == g_.out_width;
    const std::int64_t map = g_.height * g_.width * g_.in_blocks() * npu::kBlockBytes;
    for (const std::int64_t n_tile : {inner.n1, 2 * inner.n1, 4 * inner.n1}) {
      if (g_.images != 1 || !gapless || n_tile > g_.out_blocks()) break;
      // Weights in as few parts along the reduction as two of them fit.
      std::int64_t chunk = g_.in_blocks();
      while (chunk > 1 && map + 2 * chunk * g_.taps() * inner.n1 * kFractal > l1_)
        chunk = CeilDiv(chunk, 2);
      if (map + 2 * chunk * g_.taps() * inner.n1 * kFractal > l1_) break;
      ConvTiling t = inner;
      t.chunk = chunk;
      t.k1 = std::min(t.k1, chunk * g_.taps());
      t.resident_map = true;
      t.n_tile = n_tile;
      t.rows = g_.out_height;
      t.columns = g_.out_width;
      Add(t);
    }
  }

  void Add(ConvTiling t) {
    const std::int64_t positions = t.rows * t.columns;
    const std::int64_t n = CeilDiv(t.resident_map ? t.n_tile : g_.out_blocks(), t.n1);
    if (t.resident_map && t.chunk < g_.in_blocks() && CeilDiv(positions, t.m) > 2) return;
    if (CeilDiv(positions, t.m) * n * CeilDiv(g_.k1(), t.k1) > kMostPieces) return;
    all_.push_back(t);
    // Weights that stay in L1 may pass by a part of the map that stays in L0A.
    if (n > 1 && t.k1 == g_.k1() && t.chunk == g_.in_blocks() &&
        (t.resident_weights || CeilDiv(positions, t.m) == 1)) {
      t.m_outer = true;
      all_.push_back(t);
    }
  }

  const npu::Buffers& b_;
  const std::int64_t l1_;
  const std::int64_t acc_;
  const ConvProblem& p_;
  const ConvGeometry& g_;
  std::vector<ConvTiling> all_;
};

}  // namespace

ConvTiling SearchConvTiling(Context& c, const ConvProblem& p, const ConvTiling& first) {
  const std::string key = KeyOf(c.config, p);
  if (c.config.memo) {
    if (const auto known = c.config.memo->Find(key)) return *known;
  }
  ConvTiling best = first;
  double least = c.Measure([&] { EmitConv(c, p, first); }, std::numeric_limits<double>::infinity());
  // Tiny buffers make long programs of every tiling: then the first few have to do.
  const std::uint64_t most = c.measured_words() + kMostWords;
  for (const ConvTiling& t : Candidates(c.config, p).All()) {
    if (c.measured_words() > most) break;
    const double cycles = c.Measure([&] { EmitConv(c, p, t); }, least);
    if (cycles < least * 0.999) {
      least = cycles;
      best = t;
    }
  }
  if (c.config.memo) c.config.memo->Add(key, best);
  return best;
}

}  // namespace npukit::devices::npu_sim
