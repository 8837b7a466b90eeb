#include <algorithm>

#include "devices/npu_sim/lower/conv.h"

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
  if (l1_least > b.l1_bytes) *overflow = {"npu.sram_bytes", b.l1_bytes, l1_least};
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
  const std::int64_t room = b.l1_bytes;
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

}  // namespace npukit::devices::npu_sim
