// One convolution as tiles of the cube: what a tiling means, instruction by instruction. Buffers
// are used in halves wherever a piece fits one, so that the next piece loads while the cube works.
#include <algorithm>
#include <array>

#include "devices/npu_sim/lower/conv.h"
#include "devices/npu_sim/lower/halves.h"

namespace npukit::devices::npu_sim {
namespace {

// Which pieces of an operand the halves of L0A or L0B hold, so that none is loaded twice in a row.
class Pieces {
 public:
  using Key = std::array<std::int64_t, 4>;
  explicit Pieces(Halves halves) : halves_(halves) {}
  // Where the piece is; `load` says that it must be brought first.
  std::int64_t Find(const Key& key, bool* load) {
    for (const auto& [held, addr] : held_) {
      if (held == key && addr >= 0) {
        *load = false;
        return addr;
      }
    }
    *load = true;
    const std::int64_t addr = halves_.Next();
    for (auto& [held, at] : held_) {
      if (at == addr) at = -1;
    }
    held_[turn_ = 1 - turn_] = {key, addr};
    return addr;
  }

 private:
  Halves halves_;
  std::array<std::pair<Key, std::int64_t>, 2> held_{{{{}, -1}, {{}, -1}}};
  int turn_ = 1;
};

class ConvEmitter {
 public:
  ConvEmitter(Context& c, const ConvProblem& p, const ConvTiling& t, std::int64_t image)
      : c_(c), p_(p), g_(p.geometry), t_(t), image_(image) {
    const npu::Buffers& b = c.config.buffers;
    // Scales and biases of all channels stay in UB when they are few.
    const std::int64_t channels = g_.out_blocks() * kChannelBytes;
    resident_channels_ = !t.resident_map && channels <= b.ub_bytes / 8 &&
                         p.steps.UbBytes(t.n1, t.m) <= b.ub_bytes - channels;
    channels_at_ = resident_channels_ ? b.ub_bytes - channels : b.ub_bytes;
    if (t.resident_weights) {
      l1_free_ = g_.k1() * g_.out_blocks() * npu::kFractalBytes;
    } else if (t.resident_map) {
      l1_free_ = g_.height * g_.width * g_.in_blocks() * npu::kBlockBytes;
    }
    // Biases that accumulators start from: all of them stay in L1, or, where tiles go along the
    // channels, those of a tile.
    bias_at_ = l1_free_;
    if (p.cube_bias >= 0 && !t.resident_map) l1_free_ += g_.out_blocks() * kLanes * 4;
  }

  // What a core loads once; `v` and `h` are all of the map when that is part of it.
  void Prologue(const AxisRun& v, const AxisRun& h) {
    if (t_.resident_weights) LoadWeights(0, 0, g_.k1(), 0, g_.out_blocks(), 0);
    if (t_.resident_map) LoadMap(0, v, h, 0, g_.in_blocks());
    if (resident_channels_) {
      LoadChannels(p_.scale, 0, g_.out_blocks(), On(npu::kUb, channels_at_), 0);
      if (p_.bias >= 0) {
        LoadChannels(p_.bias, 0, g_.out_blocks(),
                     On(npu::kUb, channels_at_ + g_.out_blocks() * kLanes * 4), 0);
      }
    }
    if (p_.cube_bias >= 0 && !t_.resident_map)
      LoadChannels(p_.cube_bias, 0, g_.out_blocks(), On(npu::kL1, bias_at_), 0);
  }

  // A tile: `v` x `h` output positions, `n_count` blocks of output channels from n_begin and, for
  // the tiles of a group along channels, `n_step` further each.
  void Body(const AxisRun& v, const AxisRun& h, std::int64_t n_begin, std::int64_t n_count,
            std::int64_t n_step) {
    Begin(v, h);
    n_step_ = n_step;
    bias_first_ = 0;
    if (p_.cube_bias >= 0 && t_.resident_map) {
      bias_first_ = n_begin;
      LoadChannels(p_.cube_bias, n_begin, n_count, On(npu::kL1, bias_at_), n_step);
    }
    const std::int64_t chunks = CeilDiv(g_.in_blocks(), t_.chunk);
    const std::int64_t positions = v.out_size * h.out_size;
    std::int64_t map = 0, weights = 0;
    if (chunks == 1 && !t_.resident_map) LoadMap(map = map_.Next(), v, h, 0, g_.in_blocks());
    const auto rest = [&](std::int64_t m, std::int64_t n) {
      const std::int64_t rows = std::min(t_.m, positions - m);
      const std::int64_t n1 = std::min(t_.n1, n_begin + n_count - n);
      const std::int64_t acc = l0c_.Next();
      for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
        const std::int64_t c_begin = chunk * t_.chunk,
                           c_count = std::min(t_.chunk, g_.in_blocks() - c_begin);
        if (chunks > 1) {
          if (!t_.resident_map) LoadMap(map = map_.Next(), v, h, c_begin, c_count);
          if (!t_.resident_weights) {
            LoadWeights(weights = weights_.Next(), c_begin * g_.taps(), c_count * g_.taps(), n, n1,
                        n_step);
          }
        }
        Multiply(v, h, m, rows, n, n1, c_begin, c_count, map, weights, acc);
      }
      Store(v, h, m, rows, n, n1, acc);
    };
    const auto bring = [&](std::int64_t n) {
      if (chunks != 1 || t_.resident_weights) return;
      LoadWeights(weights = weights_.Next(), 0, g_.k1(), n, std::min(t_.n1, n_begin + n_count - n),
                  n_step);
    };
    if (t_.m_outer) {  // the map stays in L0A, weights pass by
      for (std::int64_t m = 0; m < positions; m += t_.m) {
        for (std::int64_t n = n_begin; n < n_begin + n_count; n += t_.n1) {
          bring(n);
          rest(m, n);
        }
      }
    } else {
      for (std::int64_t n = n_begin; n < n_begin + n_count; n += t_.n1) {
        bring(n);
        for (std::int64_t m = 0; m < positions; m += t_.m) rest(m, n);
      }
    }
  }

 private:
  void Begin(const AxisRun& v, const AxisRun& h) {
    const npu::Buffers& b = c_.config.buffers;
    const std::int64_t m1 = CeilDiv(t_.m, kLanes), fractal = npu::kFractalBytes;
    a_ = Pieces(Halves(0, m1 * t_.k1 * fractal, b.l0a_bytes, fractal));
    b_ = Pieces(Halves(0, t_.k1 * t_.n1 * fractal, b.l0b_bytes, fractal));
    l0c_ = Halves(0, m1 * t_.n1 * 256 * c_.config.accumulator_bytes(), b.l0c_bytes, 512);
    ub_ = Halves(0, UbBytes(t_.n1, t_.m), channels_at_, 64);
    // L1 beside what is resident: the map of a tile, or one chunk of it, then weights.
    const std::int64_t map =
        t_.resident_map ? 0 : v.in_size * h.in_size * t_.chunk * npu::kBlockBytes;
    const std::int64_t weights = t_.resident_weights ? 0 : t_.chunk * g_.taps() * t_.n1 * fractal;
    const bool chunked = t_.chunk < g_.in_blocks();
    const std::int64_t maps =
        chunked && l1_free_ + 2 * (map + weights) <= c_.config.buffers.l1_bytes ? 2 : 1;
    map_ = Halves(l1_free_, maps == 2 ? map : map + 1, l1_free_ + maps * map, 32);
    const std::int64_t biases = p_.cube_bias >= 0 && t_.resident_map ? t_.n_tile * kLanes * 4 : 0;
    const std::int64_t after = l1_free_ + maps * map + biases;
    const std::int64_t slots = after + 2 * weights <= c_.config.buffers.l1_bytes ? 2 : 1;
    weights_ = Halves(after, slots == 2 ? weights : weights + 1, after + slots * weights, 32);
  }

  std::int64_t UbBytes(std::int64_t n1, std::int64_t rows) const {
    return p_.steps.UbBytes(n1, rows) + (resident_channels_ ? 0 : n1 * kChannelBytes);
  }

  // Fractals (k, n) of a stretch of both, to L1 as (k1, n1).
  void LoadWeights(std::int64_t l1, std::int64_t k_begin, std::int64_t k_count,
                   std::int64_t n_begin, std::int64_t n_count, std::int64_t n_step) {
    npu::Copy copy;
    copy.src = On(npu::kWeight, (k_begin * g_.out_blocks() + n_begin) * npu::kFractalBytes);
    copy.src.index = p_.weight;
    copy.src.step[0] = Word(n_step * npu::kFractalBytes);
    copy.dst = On(npu::kL1, l1);
    if (n_count == g_.out_blocks()) {
      copy.bytes = Word(k_count * n_count * npu::kFractalBytes);
    } else {
      copy.count[2] = Word(k_count);
      copy.src_stride[2] = Word(g_.out_blocks() * npu::kFractalBytes);
      copy.dst_stride[2] = Word(n_count * npu::kFractalBytes);
      copy.bytes = Word(n_count * npu::kFractalBytes);
    }
    c_.Emit(copy);
  }

  void LoadMap(std::int64_t l1, const AxisRun& v, const AxisRun& h, std::int64_t c_begin,
               std::int64_t c_count) {
    npu::Copy copy;
    const std::int64_t row = image_ * g_.height * g_.width + v.in_begin * g_.width + h.in_begin;
    copy.src = p_.src.at;
    copy.src.addr = Word(p_.src.at.addr + c_begin * p_.src.plane_bytes() + row * npu::kBlockBytes);
    copy.src.step[0] = Word(v.in_step * g_.width * npu::kBlockBytes);
    copy.src.step[1] = Word(h.in_step * npu::kBlockBytes);
    copy.dst = On(npu::kL1, l1);
    const bool whole_rows = h.in_size == g_.width;
    const std::int64_t lines = whole_rows ? 1 : v.in_size;
    const std::int64_t line = (whole_rows ? v.in_size : 1) * h.in_size * npu::kBlockBytes;
    copy.count[1] = Word(c_count);
    copy.count[2] = Word(lines);
    copy.src_stride[1] = c_count == 1 ? 0 : Word(p_.src.plane_bytes());
    copy.src_stride[2] = lines == 1 ? 0 : Word(g_.width * npu::kBlockBytes);
    copy.dst_stride[1] = c_count == 1 ? 0 : Word(v.in_size * h.in_size * npu::kBlockBytes);
    copy.dst_stride[2] = lines == 1 ? 0 : Word(line);
    copy.bytes = Word(line);
    c_.Emit(copy);
  }

  // The cube's work on `rows` positions from m, `n1` blocks of channels from n, over the input
  // blocks now in L1.
  void Multiply(const AxisRun& v, const AxisRun& h, std::int64_t m, std::int64_t rows,
                std::int64_t n, std::int64_t n1, std::int64_t c_begin, std::int64_t c_count,
                std::int64_t map, std::int64_t weights, std::int64_t acc) {
    const std::int64_t k_all = c_count * g_.taps();
    // Blocks of the reduction before the map in L1 begins: none but for a map that is all there.
    const std::int64_t k_before = t_.resident_map ? c_begin * g_.taps() : 0;
    for (std::int64_t k = 0; k < k_all; k += t_.k1) {
      const std::int64_t k1 = std::min(t_.k1, k_all - k);
      bool load = false;
      npu::Load3d a;
      a.dst_addr = Word(a_.Find({m, rows, c_begin, k}, &load));
      a.dst_m1_stride = Word(k1 * npu::kFractalBytes);
      a.src_addr = Word(map);
      a.src_c1_stride = Word(v.in_size * h.in_size * npu::kBlockBytes);
      a.height = Word(v.in_size);
      a.width = Word(h.in_size);
      a.pad_top = Word(v.pad);
      a.pad_left = Word(h.pad);
      a.kernel_h = Word(g_.kernel_h);
      a.kernel_w = Word(g_.kernel_w);
      a.stride_h = Word(g_.stride_h);
      a.stride_w = Word(g_.stride_w);
      a.dilation_h = Word(g_.dilation_h);
      a.dilation_w = Word(g_.dilation_w);
      a.out_w = Word(h.out_size);
      a.m_start = Word(m);
      a.m_count = Word(rows);
      a.k_start = Word(k_before + k);
      a.k_count = Word(k1);
      if (load) c_.Emit(a);

      npu::Load2d b;
      const std::int64_t stride = t_.resident_weights ? g_.out_blocks() : n1;
      const std::int64_t first =
          t_.resident_weights ? (c_begin * g_.taps() + k) * stride + n : k * stride;
      b.dst_addr = Word(b_.Find({n, n1, c_begin, k}, &load));
      b.src_addr = Word(weights + first * npu::kFractalBytes);
      b.count[0] = Word(k1);
      b.count[1] = Word(n1);
      b.src_stride[0] = Word(stride * npu::kFractalBytes);
      b.dst_stride[0] = Word(n1 * npu::kFractalBytes);
      if (load) c_.Emit(b);

      npu::Mmad mm;
      mm.a_addr = a.dst_addr;
      mm.a_m1_stride = Word(k1 * npu::kFractalBytes);
      mm.b_addr = b.dst_addr;
      mm.b_k1_stride = Word(n1 * npu::kFractalBytes);
      mm.c_addr = Word(acc);
      mm.c_n1_stride = Word(C1Stride(rows));
      mm.m = Word(rows);
      mm.k1 = Word(k1);
      mm.n1 = Word(n1);
      mm.init = npu::kAccumulate;
      if (c_begin == 0 && k == 0) {
        mm.init = p_.cube_bias >= 0 ? npu::kBias : npu::kZero;
        if (p_.cube_bias >= 0) mm.bias_addr = Word(bias_at_ + (n - bias_first_) * kLanes * 4);
      }
      c_.Emit(mm);
    }
  }

  std::int64_t C1Stride(std::int64_t rows) const {
    return RoundUp(rows, kLanes) * kLanes * c_.config.accumulator_bytes();
  }

  void Store(const AxisRun& v, const AxisRun& h, std::int64_t m, std::int64_t rows, std::int64_t n,
             std::int64_t n1, std::int64_t acc) {
    const std::int64_t base = ub_.Next();
    const UbTile tile = Shifted(LayOut(p_.steps, n1, rows), base);
    std::int64_t scale = base + p_.steps.UbBytes(n1, rows), bias = scale + n1 * kLanes * 4;
    if (resident_channels_) {
      scale = channels_at_ + n * kLanes * 4;
      bias = scale + g_.out_blocks() * kLanes * 4;
    } else {
      LoadChannels(p_.scale, n, n1, On(npu::kUb, scale), n_step_);
      if (p_.bias >= 0) LoadChannels(p_.bias, n, n1, On(npu::kUb, bias), n_step_);
    }
    npu::L0cToUb move;
    move.scale_addr = Word(scale);
    move.src_addr = Word(acc);
    move.src_n1_stride = Word(C1Stride(rows));
    move.dst_addr = Word(tile.main);
    move.dst_n1_stride = Word(rows * p_.steps.row_bytes());
    move.dst_type = p_.steps.type();
    move.rows = Word(rows);
    move.n1 = Word(n1);
    move.relu = p_.relu ? 1 : 0;
    c_.Emit(move);
    if (p_.bias >= 0) AddBias(tile, bias);

    TilePosition at;
    at.block_begin = n;
    at.block_step[0] = n_step_;
    at.row_begin = image_ * p_.dst_image + p_.dst_first + v.out_begin * p_.dst_row +
                   h.out_begin * p_.dst_column;
    if (n_step_ == 0) at.row_step[0] = v.out_size * p_.dst_row;
    at.row_step[1] = h.out_size * p_.dst_column;
    at.row_stride = p_.dst_column;
    if (h.out_size * p_.dst_column == p_.dst_row || v.out_size == 1) {
      // Positions follow each other without a gap between lines.
      at.row_begin += m * p_.dst_column;
      at.line_rows = rows;
    } else {
      // Lines with a gap: m and rows are whole lines.
      NPUKIT_CHECK(m % h.out_size == 0 && rows % h.out_size == 0);
      at.row_begin += m / h.out_size * p_.dst_row;
      at.lines = rows / h.out_size;
      at.line_rows = h.out_size;
      at.line_stride = p_.dst_row;
    }
    EmitSteps(c_, p_.steps, tile, at, g_.out_channels, n + n1 == g_.out_blocks());
    c_.Emit(TileCopy(p_.dst, at, n1, tile.shared, true));
  }

  // fp32 of n1 blocks of channels from block n on.
  void LoadChannels(std::int32_t weight, std::int64_t n, std::int64_t n1, npu::Place to,
                    std::int64_t n_step) {
    npu::Copy copy;
    copy.src = On(npu::kWeight, n * kLanes * 4);
    copy.src.index = weight;
    copy.src.step[0] = Word(n_step * kLanes * 4);
    copy.dst = to;
    copy.bytes = Word(n1 * kLanes * 4);
    c_.Emit(copy);
  }

  void AddBias(const UbTile& tile, std::int64_t bias) {
    npu::Binary b;
    b.dst_type = b.src0_type = p_.steps.type();
    b.src1_type = npu::kF32;
    b.dst_addr = b.src0_addr = Word(tile.main);
    b.src1_addr = Word(bias);
    b.count[2] = Word(tile.blocks);
    b.count[3] = Word(tile.rows);
    b.dst_stride[2] = b.src0_stride[2] = Word(tile.rows * p_.steps.row_bytes());
    b.dst_stride[3] = b.src0_stride[3] = Word(p_.steps.row_bytes());
    b.src1_stride[2] = kLanes * 4;
    b.len = kLanes;
    c_.Emit(b);
  }

  Context& c_;
  const ConvProblem& p_;
  const ConvGeometry& g_;
  const ConvTiling& t_;
  const std::int64_t image_;
  bool resident_channels_ = false;
  std::int64_t channels_at_ = 0;               // end of UB's tiles
  std::int64_t l1_free_ = 0;                   // end of what is resident in L1 from its beginning
  std::int64_t bias_at_ = 0, bias_first_ = 0;  // the accumulators' biases, from which block on
  std::int64_t n_step_ = 0;
  Pieces a_{Halves()}, b_{Halves()};
  Halves l0c_, ub_, map_, weights_;
};

}  // namespace

void EmitConv(Context& c, const ConvProblem& p, const ConvTiling& t) {
  const ConvGeometry& g = p.geometry;
  const auto vertical =
      AxisRuns(g.height, g.out_height, t.rows, g.kernel_h, g.stride_h, g.dilation_h, g.pad_top);
  const auto horizontal =
      AxisRuns(g.width, g.out_width, t.columns, g.kernel_w, g.stride_w, g.dilation_w, g.pad_left);
  const std::int64_t all = g.out_blocks();
  // What stays does not depend on the image: a map stays only where there is one.
  NPUKIT_CHECK(!t.resident_map || g.images == 1);
  const npu::Code prologue =
      c.EmitStretch([&] { ConvEmitter(c, p, t, 0).Prologue(vertical[0], horizontal[0]); });
  for (std::int64_t image = 0; image < g.images; ++image) {
    ConvEmitter e(c, p, t, image);
    if (t.resident_map) {
      // Tiles along the output channels; the last one apart, since only it ends at the last block.
      NPUKIT_CHECK(vertical.size() == 1 && horizontal.size() == 1);
      const std::int64_t tiles = CeilDiv(all, t.n_tile), last = (tiles - 1) * t.n_tile;
      if (tiles > 1) {
        c.AddGroup(tiles - 1, 1, prologue,
                   [&] { e.Body(vertical[0], horizontal[0], 0, t.n_tile, t.n_tile); });
      }
      c.AddGroup(1, 1, prologue, [&] { e.Body(vertical[0], horizontal[0], last, all - last, 0); });
      continue;
    }
    for (const AxisRun& v : vertical) {
      for (const AxisRun& h : horizontal)
        c.AddGroup(v.tiles, h.tiles, prologue, [&] { e.Body(v, h, 0, all, 0); });
    }
  }
}

}  // namespace npukit::devices::npu_sim
