// Depthwise convolution on the vector unit: `window` over blocks of 16 channels in UB, padding
// filled beforehand.
#include "devices/npu_sim/lower/depthwise.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/text.h"
#include "tensor/half.h"

namespace npukit::devices::npu_sim {
namespace {

// Bytes of UB: the result with its steps' room, the padded map, weights, bias.
std::int64_t UbNeed(const ConvGeometry& g, const StepsPlan& steps, std::int64_t blocks,
                    std::int64_t rows, std::int64_t columns) {
  const std::int64_t map = Reach(rows, g.kernel_h, g.stride_h, g.dilation_h) *
                           Reach(columns, g.kernel_w, g.stride_w, g.dilation_w);
  return steps.UbBytes(blocks, rows * columns) +
         blocks * (map * npu::kBlockBytes + g.taps() * npu::kBlockBytes + kLanes * 4);
}

}  // namespace

WindowTiling ChooseWindowTiling(const Config& config, const ConvGeometry& g, const StepsPlan& steps,
                                Overflow* overflow) {
  std::int64_t ub = config.buffers.ub_bytes;
  WindowTiling t;
  const std::int64_t least = UbNeed(g, steps, 1, 1, 1);
  if (least > ub) {
    *overflow = {"npu.ub_bytes", ub, least};
    return t;
  }
  // Half of it, so that the next tile comes in meanwhile; all where half is too little for one.
  if (2 * least <= ub) ub = ub / 2 / npu::kBlockBytes * npu::kBlockBytes;
  t.columns = g.out_width;
  while (t.columns > 1 && UbNeed(g, steps, 1, 1, t.columns) > ub) t.columns = CeilDiv(t.columns, 2);
  while (t.rows < g.out_height && UbNeed(g, steps, 1, t.rows + 1, t.columns) <= ub) ++t.rows;
  // A few tiles per axis, so that cores can share; equal ones, so that one group holds them.
  t.rows = CeilDiv(g.out_height, CeilDiv(g.out_height, t.rows));
  if (t.rows == g.out_height && t.columns == g.out_width) {
    const std::int64_t most = std::max<std::int64_t>(1, CeilDiv(g.out_blocks(), 4));
    while (t.blocks < most && UbNeed(g, steps, t.blocks + 1, t.rows, t.columns) <= ub) ++t.blocks;
  }
  return t;
}

WindowTiling SearchWindowTiling(Context& c, const WindowProblem& p, const WindowTiling& first) {
  WindowTiling best = first;
  double least =
      c.Measure([&] { EmitWindow(c, p, first); }, std::numeric_limits<double>::infinity());
  // Smaller tiles fill and drain sooner, and are more to share among cores; where buffers are tiny
  // they only make long programs.
  const std::uint64_t most = c.measured_words() + 1'000'000;
  for (const std::int64_t by_rows : {1, 2, 4, 8}) {
    for (const std::int64_t by_blocks : {1, 2, 4}) {
      WindowTiling t = first;
      t.rows = CeilDiv(first.rows, by_rows);
      t.blocks = CeilDiv(first.blocks, by_blocks);
      if (by_rows * by_blocks == 1 || c.measured_words() > most) continue;
      const double cycles = c.Measure([&] { EmitWindow(c, p, t); }, least);
      if (cycles >= least * 0.999) continue;
      least = cycles;
      best = t;
    }
  }
  return best;
}

void EmitWindow(Context& c, const WindowProblem& p, const WindowTiling& t) {
  const ConvGeometry& g = p.geometry;
  const auto vertical =
      AxisRuns(g.height, g.out_height, t.rows, g.kernel_h, g.stride_h, g.dilation_h, g.pad_top);
  const auto horizontal =
      AxisRuns(g.width, g.out_width, t.columns, g.kernel_w, g.stride_w, g.dilation_w, g.pad_left);
  const auto emit = [&](std::int64_t image, const AxisRun& v, const AxisRun& h, std::int64_t h_tile,
                        std::int64_t block_begin, std::int64_t block_tiles, std::int64_t blocks) {
    const std::int64_t rows = v.out_size * h.out_size;
    const UbTile tile = LayOut(p.steps, blocks, rows);
    const std::int64_t map_h = Reach(v.out_size, g.kernel_h, g.stride_h, g.dilation_h);
    const std::int64_t map_w = Reach(h.out_size, g.kernel_w, g.stride_w, g.dilation_w);
    const std::int64_t map = p.steps.UbBytes(blocks, rows);
    const std::int64_t weights = map + blocks * map_h * map_w * npu::kBlockBytes;
    const std::int64_t bias = weights + (p.weight >= 0 ? blocks * g.taps() * npu::kBlockBytes : 0);
    const bool last_block = block_begin + block_tiles * blocks == g.out_blocks();

    c.AddGroup(block_tiles, v.tiles, nullptr, [&] {
      if (p.weight >= 0) {
        npu::Copy w;
        w.src.mem = npu::kWeight;
        w.src.index = p.weight;
        w.src.addr = Word(block_begin * g.taps() * npu::kBlockBytes);
        w.src.step[0] = Word(blocks * g.taps() * npu::kBlockBytes);
        w.dst = On(npu::kUb, weights);
        w.bytes = Word(blocks * g.taps() * npu::kBlockBytes);
        c.Emit(w);
      }
      if (p.bias >= 0) {
        npu::Copy b;
        b.src.mem = npu::kWeight;
        b.src.index = p.bias;
        b.src.addr = Word(block_begin * kLanes * 4);
        b.src.step[0] = Word(blocks * kLanes * 4);
        b.dst = On(npu::kUb, bias);
        b.bytes = Word(blocks * kLanes * 4);
        c.Emit(b);
      }
      // The map: as far as it exists; the rest is padding.
      const std::int64_t in_h = std::min(v.in_size, map_h - v.pad),
                         in_w = std::min(h.in_size, map_w - h.pad);
      if (in_h > 0 && in_w > 0) {
        npu::Copy m;
        m.src = p.src.at;
        const std::int64_t row =
            image * g.height * g.width + v.in_begin * g.width + h.in_begin + h_tile * h.in_step;
        m.src.addr =
            Word(p.src.at.addr + block_begin * p.src.plane_bytes() + row * npu::kBlockBytes);
        m.src.step[0] = Word(blocks * p.src.plane_bytes());
        m.src.step[1] = Word(v.in_step * g.width * npu::kBlockBytes);
        m.dst = On(npu::kUb, map + (v.pad * map_w + h.pad) * npu::kBlockBytes);
        m.count[1] = Word(blocks);
        m.count[2] = Word(in_h);
        m.src_stride[1] = blocks == 1 ? 0 : Word(p.src.plane_bytes());
        m.src_stride[2] = in_h == 1 ? 0 : Word(g.width * npu::kBlockBytes);
        m.dst_stride[1] = blocks == 1 ? 0 : Word(map_h * map_w * npu::kBlockBytes);
        m.dst_stride[2] = in_h == 1 ? 0 : Word(map_w * npu::kBlockBytes);
        m.bytes = Word(in_w * npu::kBlockBytes);
        c.Emit(m);
      }
      // Padding around it, after it and apart from it: filled first, the map would have to wait
      // for the vector unit's work on the tile before.
      const auto pad = [&](std::int64_t y, std::int64_t x, std::int64_t h_count,
                           std::int64_t w_count) {
        if (h_count <= 0 || w_count <= 0) return;
        npu::Fill f;
        f.mem = npu::kUb;
        f.addr = Word(map + (y * map_w + x) * npu::kBlockBytes);
        f.type = npu::kF16;
        f.value = p.padding;
        const bool lines = w_count < map_w;
        f.len = Word((lines ? 1 : h_count) * w_count * kLanes);
        f.count[0] = Word(blocks);
        f.stride[0] = blocks == 1 ? 0 : Word(map_h * map_w * npu::kBlockBytes);
        f.count[1] = Word(lines ? h_count : 1);
        f.stride[1] = lines && h_count > 1 ? Word(map_w * npu::kBlockBytes) : 0;
        c.Emit(f);
      };
      if (in_h <= 0 || in_w <= 0) {
        pad(0, 0, map_h, map_w);
      } else {
        pad(0, 0, v.pad, map_w);
        pad(v.pad + in_h, 0, map_h - v.pad - in_h, map_w);
        pad(v.pad, 0, in_h, h.pad);
        pad(v.pad, h.pad + in_w, in_h, map_w - h.pad - in_w);
      }
      npu::Window w;
      w.op = p.op;
      w.dst_type = p.steps.type();
      w.dst_addr = Word(tile.main);
      w.src_addr = Word(map);
      w.weight_addr = p.weight >= 0 ? Word(weights) : 0;
      w.weight_stride = p.weight >= 0 ? Word(g.taps() * npu::kBlockBytes) : 0;
      w.bias_addr = p.bias >= 0 ? Word(bias) : -1;
      w.kernel_h = Word(g.kernel_h);
      w.kernel_w = Word(g.kernel_w);
      w.tap_stride[0] = Word(g.dilation_h * map_w * npu::kBlockBytes);
      w.tap_stride[1] = Word(g.dilation_w * npu::kBlockBytes);
      w.count[0] = Word(blocks);
      w.count[1] = Word(v.out_size);
      w.count[2] = Word(h.out_size);
      w.dst_stride[0] = Word(rows * p.steps.row_bytes());
      w.dst_stride[1] = Word(h.out_size * p.steps.row_bytes());
      w.dst_stride[2] = Word(p.steps.row_bytes());
      w.src_stride[0] = Word(map_h * map_w * npu::kBlockBytes);
      w.src_stride[1] = Word(g.stride_h * map_w * npu::kBlockBytes);
      w.src_stride[2] = Word(g.stride_w * npu::kBlockBytes);
      c.Emit(w);
      if (p.scale != 1.0f) {
        npu::Unary u;
        u.op = npu::UnaryOp::kMuls;
        u.dst_type = u.src_type = p.steps.type();
        u.dst_addr = u.src_addr = Word(tile.main);
        u.len = Word(blocks * rows * kLanes);
        u.scalar = p.scale;
        c.Emit(u);
      }
      TilePosition at;
      at.block_begin = block_begin;
      at.block_step[0] = blocks;
      at.row_begin = image * g.out_height * g.out_width + v.out_begin * g.out_width + h.out_begin +
                     h_tile * h.out_size;
      at.row_step[1] = v.out_size * g.out_width;
      if (h.out_size == g.out_width || v.out_size == 1) {
        at.line_rows = rows;
      } else {
        at.lines = v.out_size;
        at.line_rows = h.out_size;
        at.line_stride = g.out_width;
      }
      // Only when every tile of the group ends at the last block may the padding be cleared there;
      // one tile wide does.
      EmitSteps(c, p.steps, tile, at, g.out_channels, last_block && block_tiles == 1);
      c.Emit(TileCopy(p.dst, at, blocks, tile.shared, true));
    });
  };
  const std::int64_t all = g.out_blocks();
  // The last block alone where its unused lanes must be cleared, since tiles of a group are alike.
  const std::int64_t apart = p.steps.dirty_padding && g.out_channels % kLanes != 0 ? 1 : 0;
  const std::int64_t shared = all - apart;
  for (std::int64_t image = 0; image < g.images; ++image) {
    for (const AxisRun& v : vertical) {
      for (const AxisRun& h : horizontal) {
        for (std::int64_t h_tile = 0; h_tile < h.tiles; ++h_tile) {
          const std::int64_t full = shared / t.blocks, rest = shared % t.blocks;
          if (full) emit(image, v, h, h_tile, 0, full, t.blocks);
          if (rest) emit(image, v, h, h_tile, full * t.blocks, 1, rest);
          if (apart) emit(image, v, h, h_tile, shared, 1, 1);
        }
      }
    }
  }
}

Status LowerDepthwise(Context& c, const ir::Node& n) {
  WindowProblem p;
  NPUKIT_ASSIGN_OR_RETURN(p.geometry, GeometryOf(c.graph, n));
  const ConvGeometry& g = p.geometry;
  StepProblem problem;
  p.steps = PlanSteps(c.graph, n, &problem);
  Overflow overflow;
  const WindowTiling t = ChooseWindowTiling(c.config, g, p.steps, &overflow);
  if (!problem.code.empty() || !overflow.fact.empty())
    return Internal(Cat("conv2d ", n.name, " was not asked about"));
  NPUKIT_RETURN_IF_ERROR(BindOperands(c, p.steps));
  NPUKIT_ASSIGN_OR_RETURN(p.src, c.AsBlocked(n.inputs[0]));

  const tensor::Value& w = *c.graph.constant(n.inputs[1]);  // [C, 1, kh, kw]
  std::vector<std::byte> bytes(
      static_cast<std::size_t>(g.out_blocks() * g.taps() * npu::kBlockBytes));
  for (std::int64_t ch = 0; ch < g.channels; ++ch) {
    for (std::int64_t tap = 0; tap < g.taps(); ++tap) {
      const std::uint16_t h =
          tensor::FloatToHalf(static_cast<float>(tensor::ElementAsDouble(w, ch * g.taps() + tap)));
      std::memcpy(
          bytes.data() + ((ch / kLanes) * g.taps() + tap) * npu::kBlockBytes + (ch % kLanes) * 2,
          &h, 2);
    }
  }
  NPUKIT_ASSIGN_OR_RETURN(p.weight, c.AddWeight("f16_c1_taps_16", std::move(bytes)));
  const tensor::Value* bias = ConstantBias(c.graph, n);
  NPUKIT_ASSIGN_OR_RETURN(p.bias, BiasWeight(c, bias, g.out_channels));
  NPUKIT_ASSIGN_OR_RETURN(p.dst, c.NewBlocked(n.outputs[0]));
  const WindowTiling best = SearchWindowTiling(c, p, t);
  c.BeginTask(n.name);
  EmitWindow(c, p, best);
  c.EndTask(static_cast<std::uint64_t>(g.images * g.out_height * g.out_width * g.out_channels *
                                       g.taps()));
  return OkStatus();
}

}  // namespace npukit::devices::npu_sim
