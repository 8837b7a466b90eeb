#include "devices/npu_sim/lower/matmul.h"

#include <algorithm>

#include "base/text.h"
#include "devices/npu_sim/lower/halves.h"

namespace npukit::devices::npu_sim {
namespace {

Status LowerWithWeights(Context& c, const ir::Node& n, const MatMulShape& s, StepsPlan steps) {
  ConvProblem p;
  p.name = n.name;
  p.geometry = WeightGeometry(s);
  p.steps = std::move(steps);
  Overflow overflow;
  const ConvTiling t = ChooseConvTiling(c.config, p.geometry, p.steps, &overflow);
  if (!overflow.fact.empty()) return Internal(Cat("matmul ", n.name, " was not asked about"));
  NPUKIT_RETURN_IF_ERROR(BindOperands(c, p.steps));
  NPUKIT_ASSIGN_OR_RETURN(p.src, c.AsBlocked(n.inputs[0]));
  const tensor::Value& w = *c.graph.constant(n.inputs[1]);
  NPUKIT_RETURN_IF_ERROR(
      AddCubeWeights(c, p, [&](std::int64_t o, std::int64_t i, std::int64_t, std::int64_t) {
        return static_cast<float>(tensor::ElementAsDouble(w, i * s.n + o));
      }));
  NPUKIT_RETURN_IF_ERROR(AddBiasAndRelu(c, p, ConstantBias(c.graph, n)));
  NPUKIT_ASSIGN_OR_RETURN(p.dst, c.NewBlocked(n.outputs[0]));
  p.dst_row = p.geometry.out_width;
  const ConvTiling best = SearchConvTiling(c, p, t);
  c.BeginTask(n.name);
  EmitConv(c, p, best);
  c.EndTask(static_cast<std::uint64_t>(p.geometry.macs()));
  return OkStatus();
}

// Two activations. `b_rows_are_n`: B lies as (K1, n rows, 16), as it does before a transpose of its
// last two dimensions; else as (N1, k rows, 16), and its fractals are transposed on the way to L0B.
class BatchEmitter {
 public:
  BatchEmitter(Context& c, const MatMulShape& s, const BatchTiling& t, const StepsPlan& steps,
               const Blocked& a, const Blocked& b, const Blocked& dst, bool b_rows_are_n)
      : c_(c), s_(s), t_(t), steps_(steps), a_(a), b_(b), dst_(dst), b_rows_are_n_(b_rows_are_n) {}

  void Emit() {
    ForEachTileGroup(s_.batch, 1, s_.m, t_.m, [&](const TileGroup& g) {
      c_.AddGroup(g.tiles0, g.tiles1, nullptr, [&] { Body(g); });
    });
  }

 private:
  std::int64_t KBlocks() const { return CeilDiv(s_.k, kLanes); }
  std::int64_t NBlocks() const { return CeilDiv(s_.n, kLanes); }
  std::int64_t BRows() const { return b_rows_are_n_ ? s_.n : s_.k; }
  std::int64_t BBlocks() const { return b_rows_are_n_ ? KBlocks() : NBlocks(); }
  std::int64_t BPlane() const { return RoundUp(BRows(), kLanes) * npu::kBlockBytes; }

  npu::Copy LoadB(npu::Place dst, std::int64_t plane) const {
    npu::Copy b;
    b.src = b_.at;
    b.src.step[0] = s_.b_batch == 1 ? 0 : Word(BRows() * npu::kBlockBytes);
    b.dst = dst;
    b.count[2] = Word(BBlocks());
    b.src_stride[2] = BBlocks() == 1 ? 0 : Word(b_.plane_bytes());
    b.dst_stride[2] = BBlocks() == 1 ? 0 : Word(plane);
    b.bytes = Word(BRows() * npu::kBlockBytes);
    return b;
  }

  void Body(const TileGroup& g) {
    const std::int64_t b_l1 = 0, a_l1 = BBlocks() * BPlane();
    // Rows beyond the matrix meet finite padding of A: they must be zero, and so must lanes beyond
    // k on one side.
    if (BRows() % kLanes != 0) {
      npu::Fill f;
      f.mem = npu::kL1;
      f.addr = Word(b_l1);
      f.len = Word(BBlocks() * BPlane() / 2);
      f.type = npu::kF16;
      c_.Emit(f);
    }
    if (b_rows_are_n_ && s_.k % kLanes != 0) {
      const std::int64_t plane = BRows() * npu::kBlockBytes;
      c_.Emit(LoadB(On(npu::kUb, 0), plane));
      npu::Fill f;
      f.mem = npu::kUb;
      f.addr = Word((KBlocks() - 1) * plane + s_.k % kLanes * 2);
      f.count[1] = Word(BRows());
      f.stride[1] = npu::kBlockBytes;
      f.len = Word(kLanes - s_.k % kLanes);
      f.type = npu::kF16;
      c_.Emit(f);
      npu::Copy to_l1;
      to_l1.src = On(npu::kUb, 0);
      to_l1.dst = On(npu::kL1, b_l1);
      to_l1.count[2] = Word(BBlocks());
      to_l1.src_stride[2] = BBlocks() == 1 ? 0 : Word(plane);
      to_l1.dst_stride[2] = BBlocks() == 1 ? 0 : Word(BPlane());
      to_l1.bytes = Word(plane);
      c_.Emit(to_l1);
    } else {
      c_.Emit(LoadB(On(npu::kL1, b_l1), BPlane()));
    }

    npu::Copy a;
    a.src = a_.at;
    a.src.addr = Word(a_.at.addr + (g.begin0 * s_.m + g.begin1) * npu::kBlockBytes);
    a.src.step[0] = Word(s_.m * npu::kBlockBytes);
    a.src.step[1] = Word(g.size1 * npu::kBlockBytes);
    a.dst = On(npu::kL1, a_l1);
    a.count[2] = Word(KBlocks());
    a.src_stride[2] = KBlocks() == 1 ? 0 : Word(a_.plane_bytes());
    a.dst_stride[2] = KBlocks() == 1 ? 0 : Word(g.size1 * npu::kBlockBytes);
    a.bytes = Word(g.size1 * npu::kBlockBytes);
    c_.Emit(a);

    const npu::Buffers& buffers = c_.config.buffers;
    const std::int64_t m1 = CeilDiv(g.size1, kLanes), fractal = npu::kFractalBytes;
    l0a_ = Halves(0, m1 * t_.k1 * fractal, buffers.l0a_bytes, fractal);
    l0b_ = Halves(0, t_.k1 * t_.n1 * fractal, buffers.l0b_bytes, fractal);
    l0c_ = Halves(0, t_.n1 * C1Stride(g.size1), buffers.l0c_bytes, fractal);
    // What fixes the padding of B takes all of UB before.
    ub_ = Halves(0, steps_.UbBytes(t_.n1, g.size1), buffers.ub_bytes, 64);
    for (std::int64_t n = 0; n < NBlocks(); n += t_.n1) {
      const std::int64_t n1 = std::min(t_.n1, NBlocks() - n);
      const std::int64_t acc = l0c_.Next();
      for (std::int64_t k = 0; k < KBlocks(); k += t_.k1) {
        const std::int64_t k1 = std::min(t_.k1, KBlocks() - k);
        Multiply(g.size1, a_l1, b_l1, n, n1, k, k1, acc);
      }
      Store(g, n, n1, acc);
    }
  }

  std::int64_t C1Stride(std::int64_t rows) const {
    return RoundUp(rows, kLanes) * kLanes * c_.config.accumulator_bytes();
  }

  void Multiply(std::int64_t rows, std::int64_t a_l1, std::int64_t b_l1, std::int64_t n,
                std::int64_t n1, std::int64_t k, std::int64_t k1, std::int64_t acc) {
    npu::Load3d a;
    a.dst_addr = Word(l0a_.Next());
    a.dst_m1_stride = Word(k1 * npu::kFractalBytes);
    a.src_addr = Word(a_l1);
    a.src_c1_stride = Word(rows * npu::kBlockBytes);
    a.height = 1;
    a.width = a.out_w = a.m_count = Word(rows);
    a.k_start = Word(k);
    a.k_count = Word(k1);
    c_.Emit(a);

    npu::Load2d b;
    b.dst_addr = Word(l0b_.Next());
    b.count[0] = Word(k1);
    b.count[1] = Word(n1);
    b.dst_stride[0] = Word(n1 * npu::kFractalBytes);
    if (b_rows_are_n_) {
      b.src_addr = Word(b_l1 + k * BPlane() + n * npu::kFractalBytes);
      b.src_stride[0] = Word(BPlane());
    } else {
      b.src_addr = Word(b_l1 + n * BPlane() + k * npu::kFractalBytes);
      b.src_stride[0] = npu::kFractalBytes;
      b.src_stride[1] = Word(BPlane());
      b.transpose = 1;
    }
    c_.Emit(b);

    npu::Mmad mm;
    mm.a_addr = a.dst_addr;
    mm.b_addr = b.dst_addr;
    mm.c_addr = Word(acc);
    mm.a_m1_stride = Word(k1 * npu::kFractalBytes);
    mm.b_k1_stride = Word(n1 * npu::kFractalBytes);
    mm.c_n1_stride = Word(C1Stride(rows));
    mm.m = Word(rows);
    mm.k1 = Word(k1);
    mm.n1 = Word(n1);
    mm.init = k == 0 ? npu::kZero : npu::kAccumulate;
    c_.Emit(mm);
  }

  void Store(const TileGroup& g, std::int64_t n, std::int64_t n1, std::int64_t acc) {
    const UbTile tile = Shifted(LayOut(steps_, n1, g.size1), ub_.Next());
    npu::L0cToUb move;
    move.src_addr = Word(acc);
    move.src_n1_stride = Word(C1Stride(g.size1));
    move.dst_addr = Word(tile.main);
    move.dst_n1_stride = Word(g.size1 * steps_.row_bytes());
    move.dst_type = steps_.type();
    move.rows = Word(g.size1);
    move.n1 = Word(n1);
    c_.Emit(move);
    TilePosition at;
    at.block_begin = n;
    at.row_begin = g.begin0 * s_.m + g.begin1;
    at.row_step[0] = s_.m;
    at.row_step[1] = g.size1;
    at.line_rows = g.size1;
    EmitSteps(c_, steps_, tile, at, s_.n, n + n1 == NBlocks());
    c_.Emit(TileCopy(dst_, at, n1, tile.shared, true));
  }

  Context& c_;
  const MatMulShape& s_;
  const BatchTiling& t_;
  const StepsPlan& steps_;
  const Blocked a_, b_, dst_;
  const bool b_rows_are_n_;
  Halves l0a_, l0b_, l0c_, ub_;
};

}  // namespace

MatMulShape MatMulShapeOf(const ir::Graph& g, const ir::Node& n) {
  MatMulShape s;
  const tensor::Dims a = g.value(n.inputs[0]).type.dims(), b = g.value(n.inputs[1]).type.dims();
  if (a.size() < 2 || b.size() < 2) {
    s.problem = Cat("rank ", std::min(a.size(), b.size()));
    return s;
  }
  s.m = a[a.size() - 2];
  s.k = a.back();
  s.n = b.back();
  for (std::size_t i = 0; i + 2 < a.size(); ++i) s.batch *= a[i];
  for (std::size_t i = 0; i + 2 < b.size(); ++i) s.b_batch *= b[i];
  if (g.is_constant(n.inputs[1]) && s.b_batch == 1) {
    s.constant_b = true;
    s.m *= s.batch;
    s.batch = 1;
  } else if (s.b_batch != 1 &&
             (a.size() != b.size() || !std::equal(a.begin(), a.end() - 2, b.begin()))) {
    s.problem =
        Cat(g.value(n.inputs[0]).type.ToString(), " with ", g.value(n.inputs[1]).type.ToString());
  } else if (HasBias(g, n)) {
    s.problem = "bias beside two activations";
  }
  return s;
}

ConvGeometry WeightGeometry(const MatMulShape& s) {
  ConvGeometry g;
  g.width = g.out_width = s.m;
  g.channels = s.k;
  g.out_channels = s.n;
  return g;
}

BatchTiling ChooseBatchTiling(const Config& config, const MatMulShape& s, const StepsPlan& steps,
                              Overflow* overflow) {
  const npu::Buffers& b = config.buffers;
  const std::int64_t acc = config.accumulator_bytes(), fractal = npu::kFractalBytes;
  const std::int64_t k1 = CeilDiv(s.k, kLanes), n1 = CeilDiv(s.n, kLanes);
  const std::int64_t b_bytes = k1 * n1 * fractal;
  BatchTiling t;
  const std::int64_t l1_least = b_bytes + k1 * npu::kBlockBytes;
  const std::int64_t ub_least =
      std::max(steps.UbBytes(1, 1), s.k % kLanes != 0 ? k1 * s.n * npu::kBlockBytes : 0);
  if (l1_least > b.l1_bytes) *overflow = {"npu.sram_bytes", b.l1_bytes, l1_least};
  if (ub_least > b.ub_bytes) *overflow = {"npu.ub_bytes", b.ub_bytes, ub_least};
  const std::int64_t l0a = b.l0a_bytes / fractal, l0b = b.l0b_bytes / fractal,
                     l0c = b.l0c_bytes / (256 * acc);
  if (l0a < 1 || l0b < 1 || l0c < 1) *overflow = {"npu.l0c_bytes", b.l0c_bytes, 256 * acc};
  if (!overflow->fact.empty()) return t;
  const auto half = [](std::int64_t n) { return std::max<std::int64_t>(1, n / 2); };
  t.n1 = std::min({n1, half(l0b), half(l0c), std::int64_t{8}});
  std::int64_t m1 = std::min({CeilDiv(s.m, kLanes), half(l0a),
                              std::max<std::int64_t>(1, half(l0c) / t.n1), std::int64_t{16}});
  t.m = std::min(m1 * kLanes, s.m);
  const auto fits = [&] {
    return steps.UbBytes(t.n1, t.m) * (ub_least * 2 <= b.ub_bytes ? 2 : 1) <= b.ub_bytes &&
           b_bytes + k1 * t.m * npu::kBlockBytes <= b.l1_bytes;
  };
  while (t.m > 1 && !fits()) t.m = CeilDiv(t.m, 2);
  while (t.n1 > 1 && !fits()) t.n1 = CeilDiv(t.n1, 2);
  m1 = CeilDiv(t.m, kLanes);
  t.k1 = std::max<std::int64_t>(1, std::min({k1, half(l0a) / m1, half(l0b) / t.n1}));
  return t;
}

Status LowerMatMul(Context& c, const ir::Node& n) {
  const MatMulShape s = MatMulShapeOf(c.graph, n);
  StepProblem problem;
  StepsPlan steps = PlanSteps(c.graph, n, &problem);
  if (!problem.code.empty() || !s.problem.empty())
    return Internal(Cat("matmul ", n.name, " was not asked about"));
  if (s.constant_b) return LowerWithWeights(c, n, s, std::move(steps));

  Overflow overflow;
  const BatchTiling t = ChooseBatchTiling(c.config, s, steps, &overflow);
  if (!overflow.fact.empty()) return Internal(Cat("matmul ", n.name, " was not asked about"));
  NPUKIT_RETURN_IF_ERROR(BindOperands(c, steps));
  NPUKIT_ASSIGN_OR_RETURN(const Blocked a, c.AsBlocked(n.inputs[0]));
  const std::optional<ir::ValueId> swapped = c.BeforeSwap(n.inputs[1]);
  NPUKIT_ASSIGN_OR_RETURN(const Blocked b, c.AsBlocked(swapped.value_or(n.inputs[1])));
  NPUKIT_ASSIGN_OR_RETURN(const Blocked dst, c.NewBlocked(n.outputs[0]));
  c.BeginTask(n.name);
  BatchEmitter(c, s, t, steps, a, b, dst, swapped.has_value()).Emit();
  c.EndTask(static_cast<std::uint64_t>(s.batch * s.m * s.k * s.n));
  return OkStatus();
}

}  // namespace npukit::devices::npu_sim
