#include "devices/npu_sim/lower/conv.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "base/text.h"
#include "ops/window.h"
#include "tensor/half.h"

namespace npukit::devices::npu_sim {
namespace {

npu::Place On(npu::Mem mem, std::int64_t addr) {
  npu::Place p;
  p.mem = mem;
  p.addr = Word(addr);
  return p;
}

// Where things lie in L1 of one tile.
struct L1Layout {
  std::int64_t weights = 0, map = 0;
};

class ConvEmitter {
 public:
  ConvEmitter(Context& c, const ConvProblem& p, const ConvTiling& t, std::int64_t image)
      : c_(c), p_(p), g_(p.geometry), t_(t), image_(image) {
    const std::int64_t weights =
        t.resident_weights ? g_.k1() * g_.out_blocks() : t.chunk * g_.taps() * t.n1;
    l1_.map = l1_.weights + weights * npu::kFractalBytes;
  }

  void Group(const AxisRun& vertical, const AxisRun& horizontal) {
    c_.AddGroup(
        vertical.tiles, horizontal.tiles, [&] { Prologue(); }, [&] { Body(vertical, horizontal); });
  }

 private:
  void Prologue() {
    if (t_.resident_weights) LoadWeights(0, g_.k1(), 0, g_.out_blocks());
  }

  // Fractals (k, n) of a stretch of both, to L1 as (k1, n1).
  void LoadWeights(std::int64_t k_begin, std::int64_t k_count, std::int64_t n_begin,
                   std::int64_t n_count) {
    npu::Copy copy;
    copy.src = On(npu::kWeight, (k_begin * g_.out_blocks() + n_begin) * npu::kFractalBytes);
    copy.src.index = p_.weight;
    copy.dst = On(npu::kL1, l1_.weights);
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

  void LoadMap(const AxisRun& v, const AxisRun& h, std::int64_t c_begin, std::int64_t c_count) {
    npu::Copy copy;
    const std::int64_t row = image_ * g_.height * g_.width + v.in_begin * g_.width + h.in_begin;
    copy.src = p_.src.at;
    copy.src.addr = Word(p_.src.at.addr + c_begin * p_.src.plane_bytes() + row * npu::kBlockBytes);
    copy.src.step[0] = Word(v.in_step * g_.width * npu::kBlockBytes);
    copy.src.step[1] = Word(h.in_step * npu::kBlockBytes);
    copy.dst = On(npu::kL1, l1_.map);
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

  void Body(const AxisRun& v, const AxisRun& h) {
    const std::int64_t chunks = CeilDiv(g_.in_blocks(), t_.chunk);
    if (chunks == 1) LoadMap(v, h, 0, g_.in_blocks());
    const std::int64_t positions = v.out_size * h.out_size;
    for (std::int64_t n = 0; n < g_.out_blocks(); n += t_.n1) {
      const std::int64_t n1 = std::min(t_.n1, g_.out_blocks() - n);
      if (chunks == 1 && !t_.resident_weights) LoadWeights(0, g_.k1(), n, n1);
      for (std::int64_t m = 0; m < positions; m += t_.m) {
        const std::int64_t rows = std::min(t_.m, positions - m);
        for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
          const std::int64_t c_begin = chunk * t_.chunk,
                             c_count = std::min(t_.chunk, g_.in_blocks() - c_begin);
          if (chunks > 1) {
            LoadMap(v, h, c_begin, c_count);
            if (!t_.resident_weights) LoadWeights(c_begin * g_.taps(), c_count * g_.taps(), n, n1);
          }
          Multiply(v, h, m, rows, n, n1, c_begin, c_count);
        }
        Store(v, h, m, rows, n, n1);
      }
    }
  }

  // The cube's work on `rows` positions from m, `n1` blocks of channels from n, over the input
  // blocks now in L1.
  void Multiply(const AxisRun& v, const AxisRun& h, std::int64_t m, std::int64_t rows,
                std::int64_t n, std::int64_t n1, std::int64_t c_begin, std::int64_t c_count) {
    const std::int64_t k_all = c_count * g_.taps();
    for (std::int64_t k = 0; k < k_all; k += t_.k1) {
      const std::int64_t k1 = std::min(t_.k1, k_all - k);
      npu::Load3d a;
      a.dst_m1_stride = Word(k1 * npu::kFractalBytes);
      a.src_addr = Word(l1_.map);
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
      a.k_start = Word(k);
      a.k_count = Word(k1);
      c_.Emit(a);

      npu::Load2d b;
      const std::int64_t stride = t_.resident_weights ? g_.out_blocks() : n1;
      const std::int64_t first =
          t_.resident_weights ? (c_begin * g_.taps() + k) * stride + n : k * stride;
      b.src_addr = Word(l1_.weights + first * npu::kFractalBytes);
      b.count[0] = Word(k1);
      b.count[1] = Word(n1);
      b.src_stride[0] = Word(stride * npu::kFractalBytes);
      b.dst_stride[0] = Word(n1 * npu::kFractalBytes);
      c_.Emit(b);

      npu::Mmad mm;
      mm.a_m1_stride = Word(k1 * npu::kFractalBytes);
      mm.b_k1_stride = Word(n1 * npu::kFractalBytes);
      mm.c_n1_stride = Word(C1Stride(rows));
      mm.m = Word(rows);
      mm.k1 = Word(k1);
      mm.n1 = Word(n1);
      const bool first_step = c_begin == 0 && k == 0;
      mm.init = first_step ? npu::kZero : npu::kAccumulate;
      c_.Emit(mm);
    }
  }

  std::int64_t C1Stride(std::int64_t rows) const {
    return RoundUp(rows, kLanes) * kLanes * c_.config.accumulator_bytes();
  }

  void Store(const AxisRun& v, const AxisRun& h, std::int64_t m, std::int64_t rows, std::int64_t n,
             std::int64_t n1) {
    const UbTile tile = LayOut(p_.steps, n1, rows);
    const std::int64_t scale = p_.steps.UbBytes(n1, rows), bias = scale + n1 * kLanes * 4;
    LoadChannels(p_.scale, n, n1, scale);
    npu::L0cToUb move;
    move.scale_addr = Word(scale);
    move.src_n1_stride = Word(C1Stride(rows));
    move.dst_addr = Word(tile.main);
    move.dst_n1_stride = Word(rows * p_.steps.row_bytes());
    move.dst_type = p_.steps.type();
    move.rows = Word(rows);
    move.n1 = Word(n1);
    c_.Emit(move);
    if (p_.bias >= 0) {
      LoadChannels(p_.bias, n, n1, bias);
      AddBias(tile, bias);
    }

    TilePosition at;
    at.block_begin = n;
    at.row_begin = image_ * p_.dst_image + p_.dst_first + v.out_begin * p_.dst_row +
                   h.out_begin * p_.dst_column;
    at.row_step[0] = v.out_size * p_.dst_row;
    at.row_step[1] = h.out_size * p_.dst_column;
    at.row_stride = p_.dst_column;
    if (h.out_size * p_.dst_column == p_.dst_row || v.out_size == 1) {
      // Positions follow each other without a gap between lines.
      at.row_begin += m * p_.dst_column;
      at.line_rows = rows;
    } else {
      // Lines with a gap: m and rows are whole lines (ChooseConvTiling, LineTiling).
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
  void LoadChannels(std::int32_t weight, std::int64_t n, std::int64_t n1, std::int64_t ub) {
    npu::Copy copy;
    copy.src = On(npu::kWeight, n * kLanes * 4);
    copy.src.index = weight;
    copy.dst = On(npu::kUb, ub);
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
  L1Layout l1_;
};

}  // namespace

void EmitConv(Context& c, const ConvProblem& p, const ConvTiling& t) {
  const ConvGeometry& g = p.geometry;
  const auto vertical =
      AxisRuns(g.height, g.out_height, t.rows, g.kernel_h, g.stride_h, g.dilation_h, g.pad_top);
  const auto horizontal =
      AxisRuns(g.width, g.out_width, t.columns, g.kernel_w, g.stride_w, g.dilation_w, g.pad_left);
  for (std::int64_t image = 0; image < g.images; ++image) {
    ConvEmitter e(c, p, t, image);
    for (const AxisRun& v : vertical) {
      for (const AxisRun& h : horizontal) e.Group(v, h);
    }
  }
}

Status AddCubeWeights(
    Context& c, ConvProblem& p,
    const std::function<float(std::int64_t, std::int64_t, std::int64_t, std::int64_t)>& element) {
  const ConvGeometry& g = p.geometry;
  const std::int64_t inner = g.channels * g.taps();
  std::vector<std::byte> bytes(
      static_cast<std::size_t>(g.k1() * g.out_blocks() * npu::kFractalBytes));
  std::vector<std::byte> scales(static_cast<std::size_t>(g.out_blocks() * kLanes * 4));
  std::vector<float> row(static_cast<std::size_t>(inner));
  for (std::int64_t o = 0; o < g.out_channels; ++o) {
    float largest = 0;
    for (std::int64_t i = 0; i < g.channels; ++i) {
      for (std::int64_t tap = 0; tap < g.taps(); ++tap) {
        const float v = element(o, i, tap / g.kernel_w, tap % g.kernel_w);
        row[static_cast<std::size_t>(i * g.taps() + tap)] = v;
        if (std::isfinite(v)) largest = std::max(largest, std::fabs(v));
      }
    }
    int exponent = 0;
    if (largest > 0) std::frexp(largest, &exponent);
    // Powers of two scale exactly as long as they are finite themselves; frexp gives [0.5, 1).
    exponent = std::clamp(exponent + 1, -100, 100);
    const float scale = std::ldexp(1.0f, exponent), inverse = std::ldexp(1.0f, -exponent);
    std::memcpy(scales.data() + o * 4, &scale, 4);
    for (std::int64_t i = 0; i < g.channels; ++i) {
      for (std::int64_t tap = 0; tap < g.taps(); ++tap) {
        const std::uint16_t h =
            tensor::FloatToHalf(row[static_cast<std::size_t>(i * g.taps() + tap)] * inverse);
        const std::int64_t k1 = i / kLanes * g.taps() + tap;
        const std::int64_t at = (k1 * g.out_blocks() + o / kLanes) * npu::kFractalBytes +
                                (o % kLanes) * npu::kBlockBytes + (i % kLanes) * 2;
        std::memcpy(bytes.data() + at, &h, 2);
      }
    }
  }
  NPUKIT_ASSIGN_OR_RETURN(p.weight, c.AddWeight("f16_fractal_z", std::move(bytes)));
  NPUKIT_ASSIGN_OR_RETURN(p.scale, c.AddWeight("f32_channels", std::move(scales)));
  return OkStatus();
}

Result<std::int32_t> BiasWeight(Context& c, const tensor::Value* bias, std::int64_t channels) {
  if (bias == nullptr) return -1;
  std::vector<std::byte> bytes(static_cast<std::size_t>(RoundUp(channels, kLanes) * 4));
  for (std::int64_t i = 0; i < channels; ++i) {
    const float v = static_cast<float>(tensor::ElementAsDouble(*bias, i));
    std::memcpy(bytes.data() + i * 4, &v, 4);
  }
  return c.AddWeight("f32_channels", std::move(bytes));
}

Result<ConvGeometry> GeometryOf(const ir::Graph& graph, const ir::Node& n) {
  const bool pool = n.op->loop == ops::LoopShape::kPool;
  const tensor::Dims x = graph.value(n.inputs[0]).type.dims(),
                     y = graph.value(n.outputs[0]).type.dims();
  std::array<std::int64_t, 2> kernel{1, 1};
  if (!pool) {
    const tensor::Dims w = graph.value(n.inputs[1]).type.dims();
    kernel = {w[2], w[3]};
  }
  NPUKIT_ASSIGN_OR_RETURN(const ops::Window w,
                          pool ? ops::ReadPoolWindow(n.attrs) : ops::ReadWindow(n.attrs, kernel));
  ConvGeometry g;
  g.images = x[0];
  g.height = x[1];
  g.width = x[2];
  g.channels = x[3];
  g.out_height = y[1];
  g.out_width = y[2];
  g.out_channels = y[3];
  g.kernel_h = w.kernel[0];
  g.kernel_w = w.kernel[1];
  g.stride_h = w.stride[0];
  g.stride_w = w.stride[1];
  g.dilation_h = w.dilation[0];
  g.dilation_w = w.dilation[1];
  NPUKIT_ASSIGN_OR_RETURN(const ops::WindowSpan vertical, ops::SlideOver(w, 0, g.height));
  NPUKIT_ASSIGN_OR_RETURN(const ops::WindowSpan horizontal, ops::SlideOver(w, 1, g.width));
  g.pad_top = vertical.pad_begin;
  g.pad_left = horizontal.pad_begin;
  return g;
}

Status LowerConv(Context& c, const ir::Node& n) {
  ConvProblem p;
  p.name = n.name;
  NPUKIT_ASSIGN_OR_RETURN(p.geometry, GeometryOf(c.graph, n));
  const ConvGeometry& g = p.geometry;
  const RowsChannels out = SplitDims(c.dims(n.outputs[0]));
  StepProblem problem;
  p.steps = PlanSteps(c.graph, n, out.rows, out.channels, &problem);
  Overflow overflow;
  const ConvTiling t = ChooseConvTiling(c.config, g, p.steps, &overflow);
  if (!problem.code.empty() || !overflow.fact.empty())
    return Internal(Cat("conv2d ", n.name, " was not asked about"));

  NPUKIT_RETURN_IF_ERROR(BindOperands(c, p.steps));
  NPUKIT_ASSIGN_OR_RETURN(p.src, c.AsBlocked(n.inputs[0]));
  const tensor::Value& w = *c.graph.constant(n.inputs[1]);
  NPUKIT_RETURN_IF_ERROR(
      AddCubeWeights(c, p, [&](std::int64_t o, std::int64_t i, std::int64_t kh, std::int64_t kw) {
        return static_cast<float>(
            tensor::ElementAsDouble(w, ((o * g.channels + i) * g.kernel_h + kh) * g.kernel_w + kw));
      }));
  const tensor::Value* bias = ConstantBias(c.graph, n);
  NPUKIT_ASSIGN_OR_RETURN(p.bias, BiasWeight(c, bias, g.out_channels));
  NPUKIT_ASSIGN_OR_RETURN(p.dst, c.NewBlocked(n.outputs[0]));
  p.dst_image = g.out_height * g.out_width;
  p.dst_row = g.out_width;
  c.BeginTask(n.name);
  EmitConv(c, p, t);
  c.EndTask(static_cast<std::uint64_t>(g.macs()));
  return OkStatus();
}

}  // namespace npukit::devices::npu_sim
